# SPDX-License-Identifier: BSD-3-Clause
# XMPI_LIBFABRIC: are there headers of libfabric 1.15 or newer, and to which version of the symbol
# fi_getinfo do they belong?  A program is linked with the library to find out; ours is not.
AC_DEFUN([XMPI_LIBFABRIC], [
    AC_ARG_WITH([libfabric], [AS_HELP_STRING([--without-libfabric],
        [build without the network link (messages between nodes)])])
    have_fabric=no
    AS_IF([test "x$with_libfabric" != xno], [
        PKG_CHECK_MODULES([FABRIC], [libfabric >= 1.15], [have_fabric=yes], [have_fabric=no])])
    AS_IF([test $have_fabric = yes], [
        AC_CACHE_CHECK([which fi_getinfo these headers belong to], [xmpi_cv_fabric_symver], [
            xmpi_saved_cflags="$CFLAGS"; CFLAGS="$CFLAGS $FABRIC_CFLAGS"
            xmpi_saved_libs="$LIBS"; LIBS="$LIBS $FABRIC_LIBS"
            xmpi_cv_fabric_symver=none
            AC_LINK_IFELSE([AC_LANG_SOURCE([[
                #include <rdma/fabric.h>
                int main(void) { return fi_getinfo(FI_VERSION(1, 15), 0, 0, 0, 0, 0); }]])],
                [xmpi_cv_fabric_symver=`objdump -T conftest$EXEEXT 2>/dev/null |
                    sed -n 's/.*(\{0,1\}\(FABRIC_@<:@0-9.@:>@*\))\{0,1\}  *fi_getinfo$/\1/p'`])
            CFLAGS="$xmpi_saved_cflags"; LIBS="$xmpi_saved_libs"])
        AS_CASE([$xmpi_cv_fabric_symver], [FABRIC_*], [
            AC_DEFINE_UNQUOTED([XMPI_FABRIC_SYMVER], ["$xmpi_cv_fabric_symver"],
                [version of the symbols of libfabric whose structures its headers describe])],
            [have_fabric=no])])
    AM_CONDITIONAL([HAVE_LIBFABRIC], [test $have_fabric = yes])
    AC_SUBST([FABRIC_CFLAGS])
])

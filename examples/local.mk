# The examples are compiled by xmpicc, as a user would; quickstart and test/programs.sh do it.
EXTRA_DIST += examples/hello.c examples/ring.c examples/pi.c examples/heat.c examples/cg.c \
              examples/mesh.c examples/ddp_overlap.c examples/plans/ring.plan examples/plans/binomial.plan examples/plans/two-level.plan \
              examples/data/island.png examples/data/poisson.mtx

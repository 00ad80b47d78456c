# The operator's image. `docker build .` needs nothing else; the base images can be named by build arguments.
ARG BASE=node:24-slim
ARG BUILDER=node:24-slim

# What the operator needs at run time. It changes only with the dependencies, so its layer is rarely built anew.
# cdk8s-plus is left out: only synthesizing the manifests needs it.
FROM ${BUILDER} AS modules
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm pkg delete devDependencies peerDependencies.cdk8s-plus-27 \
 && npm install --omit=optional --ignore-scripts --no-audit --no-fund

# The compiled code.
FROM ${BUILDER} AS code
WORKDIR /build
COPY package.json package-lock.json ./
# Not `npm ci`: it refuses a lockfile that doesn't know the binaries of every platform, which not every registry has.
RUN npm install --no-save --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY imports imports
COPY examples examples
COPY src src
RUN npm run build

FROM ${BASE}
WORKDIR /opt/dbop
ENV NODE_ENV=production
COPY --from=modules /build/node_modules ./node_modules
# Last, because it changes with every edit.
COPY --from=code /build/package.json ./
COPY --from=code /build/lib ./lib
# Nobody in particular, as in other images without a shell of their own. The file system can be read-only.
USER 65532:65532
# V8 would take up to 48 MB for what has just been made, and 30 MB more to optimize an HTTP parser that its baseline code serves as well.
ENTRYPOINT ["node", "--max-semi-space-size=2", "--liftoff-only", "/opt/dbop/lib/src/cli/main.js"]
CMD ["run"]

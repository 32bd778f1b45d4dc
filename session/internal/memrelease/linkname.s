// memrelease.go declares functions of package runtime: with this file the compiler accepts declarations without a body.

// calm.go declares functions that package runtime has: with this file the compiler lets it.

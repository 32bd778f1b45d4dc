//go:build !race

package e2e

// RaceEnabled says whether there is a race detector: then everything that tests start is many times slower.
const RaceEnabled = false

//go:build !race

package e2e

// RaceEnabled reports whether the race detector is on. It makes all started programs many times slower.
const RaceEnabled = false

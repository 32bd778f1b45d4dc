//go:build race

package main

// raceEnabled: everything started by tests is many times slower.
const raceEnabled = true

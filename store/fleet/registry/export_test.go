package registry

import "time"

// SetFirstTime sets the timeout of each first attempt, and returns a function that restores it.
func SetFirstTime(d time.Duration) (undo func()) {
	old := minStepTimeout
	minStepTimeout = d
	return func() { minStepTimeout = old }
}

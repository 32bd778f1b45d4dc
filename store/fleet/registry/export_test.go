package registry

import "time"

// SetFirstTime has the first attempt of everything be given up after another time, and returns what undoes that.
func SetFirstTime(d time.Duration) (undo func()) {
	old := minStepTimeout
	minStepTimeout = d
	return func() { minStepTimeout = old }
}

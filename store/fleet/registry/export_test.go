package registry

import "time"

// SetFirstTime has the first attempt of everything be given up after another time, and returns what undoes that.
func SetFirstTime(d time.Duration) (undo func()) {
	old := firstTime
	firstTime = d
	return func() { firstTime = old }
}

// Package dirwatch tells when files of some directories are made, written, replaced or removed, or the directories themselves: for
// who would have to look again and again otherwise. What happens on another machine to a directory that both have is not told of.
package dirwatch

// A Watcher watches directories until it is closed.
type Watcher struct{ watch }

// Watch watches directories, those of them that are there. changed is called for every few changes, on a goroutine of its
// own. The error is errors.ErrUnsupported where the system cannot tell, or the system's where it has no more watches to give.
func Watch(changed func(), dirs ...string) (*Watcher, error) { return start(changed, dirs) }

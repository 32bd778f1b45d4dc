// Package dirwatch reports when files of directories, or the directories themselves, are created, written, replaced or
// removed. It replaces polling. It does not see changes that another machine makes in a shared directory.
package dirwatch

// A Watcher watches directories until it is closed.
type Watcher struct{ watch }

// Watch watches the existing ones of some directories. It calls changed for every few changes, on a separate goroutine.
// The error is errors.ErrUnsupported on systems without notifications, or the system's if it is out of watches.
func Watch(changed func(), dirs ...string) (*Watcher, error) { return start(changed, dirs) }

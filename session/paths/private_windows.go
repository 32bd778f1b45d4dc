package paths

import "os"

// Check relies on the user profile's access control list.
func (Dirs) Check() error { return nil }

func makePrivate(string) error { return nil }

// OpenLog opens a log to append to.
func OpenLog(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

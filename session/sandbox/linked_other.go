//go:build !unix

package sandbox

import "os"

// otherNames returns false: this system has no sandboxes.
func otherNames(string) bool { return false }

// ownerOf returns false: files have no user id on this system.
func ownerOf(os.FileInfo) (uid int, ok bool) { return 0, false }

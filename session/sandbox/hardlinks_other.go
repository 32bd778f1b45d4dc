//go:build !unix

package sandbox

import "os"

// hasHardLinks returns false: this system has no sandboxes.
func hasHardLinks(string) bool { return false }

// ownerOf returns false: files have no user id on this system.
func ownerOf(os.FileInfo) (uid int, ok bool) { return 0, false }

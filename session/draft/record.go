package draft

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// recordVersion is the version of draft.json that this package writes. It reads no later one.
const recordVersion = 1

// Info is the content of draft.json.
type Info struct {
	Version int       `json:"version"`
	Session string    `json:"session"`
	Command string    `json:"command"`
	Started time.Time `json:"started"`
	Roots   []string  `json:"roots"`
	State   State     `json:"state"`
	// Stamp is the kernel's time at the start, in ns since 1970, read from a file's ctime: the clock of the kernel's times runs
	// up to a tick behind the system clock. The root's files with a later ctime conflict.
	Stamp int64 `json:"stamp"`
}

// decodeInfo reads draft.json.
func decodeInfo(b []byte) (in Info, err error) {
	if err = json.Unmarshal(b, &in); err != nil {
		return Info{}, fmt.Errorf("damaged (%w)", err)
	}
	if in.Version > recordVersion {
		return Info{}, fmt.Errorf("written by a later longterm (version %d); update longterm", in.Version)
	}
	switch in.State {
	case StateOpen, StateEnded, StateCommitting:
	default:
		return Info{}, fmt.Errorf("damaged (state %q)", in.State)
	}
	if in.Version < 1 {
		return Info{}, errors.New("damaged (no version)")
	}
	if err = checkRoots(in.Roots); err != nil {
		return Info{}, fmt.Errorf("damaged (%w)", err)
	}
	return in, nil
}

// checkRoots rejects roots that are no clean absolute paths, and roots within others.
func checkRoots(roots []string) error {
	if len(roots) == 0 {
		return errors.New("no root")
	}
	for i, r := range roots {
		if !filepath.IsAbs(r) || filepath.Clean(r) != r || strings.ContainsRune(r, 0) {
			return fmt.Errorf("root %q is not a clean absolute path", r)
		}
		for _, other := range roots[:i] {
			if beneath(r, other) || beneath(other, r) {
				return fmt.Errorf("root %q and root %q overlap", other, r)
			}
		}
	}
	return nil
}

// beneath reports whether path is dir or a path in it.
func beneath(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// running is the state of a session that has not ended.
const running = "running"

// endFile returns the path of the note of a session's end.
func endFile(dir string) string { return filepath.Join(dir, "ended") }

// NoteEnd records in a session's directory how it ended if the disk is too full for the database. It uses the target of
// a symbolic link, as file systems store a short one inside the inode.
//
//	v1:PID:STARTED:STATE:ENDED:CODE:SIGNAL:STOPPED    times in nanoseconds, base 36; no CODE: ended by a signal, or unknown
func NoteEnd(dir string, r *Session) error {
	code := ""
	if r.ExitCode != nil {
		code = strconv.Itoa(*r.ExitCode)
	}
	fields := []string{
		"v1", strconv.Itoa(r.PID), strconv.FormatInt(r.Started.UnixNano(), 36), r.State, strconv.FormatInt(r.Ended.UnixNano(), 36),
		code, r.Signal, strconv.FormatBool(r.Stopped),
	}
	path, text := endFile(dir), strings.Join(fields, ":")
	if was, err := os.Readlink(path); err == nil && was == text {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(text, path)
}

// ForgetEnd removes the note of an end, once the database has recorded the end.
func ForgetEnd(dir string) error {
	if err := os.Remove(endFile(dir)); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// ApplyEnd completes the record of a running session from its note if both are about the same process. It reports
// whether it did.
func ApplyEnd(dir string, r *Session) bool {
	text, err := os.Readlink(endFile(dir))
	if err != nil || r.State != running {
		return false
	}
	f := strings.Split(text, ":")
	if len(f) != 8 || f[0] != "v1" {
		return false
	}
	pid, pidErr := strconv.Atoi(f[1])
	started, startErr := strconv.ParseInt(f[2], 36, 64)
	ended, endErr := strconv.ParseInt(f[4], 36, 64)
	begun := time.Unix(0, started)
	same := r.PID == pid && (r.Started.IsZero() || r.Started.Equal(begun)) || r.PID == 0 && !begun.Before(r.Created)
	if pidErr != nil || startErr != nil || endErr != nil || !same {
		return false
	}
	r.PID, r.Started, r.State, r.Ended, r.Signal, r.Stopped = pid, begun, f[3], time.Unix(0, ended), f[6], f[7] == "true"
	if code, err := strconv.Atoi(f[5]); err == nil {
		r.ExitCode = &code
	}
	return true
}

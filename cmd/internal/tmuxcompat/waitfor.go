//go:build unix

package tmuxcompat

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// wait-for has channels on which one call waits and another one signals. A waiter is a FIFO in its channel's folder:
// the waiter reads it and the signal writes to it. A signal without waiters is a file there, for the next waiter.

// maxChannelName is the longest name of a channel, which is also a directory's name.
const maxChannelName = 100

func waitFor(x *command) error {
	switch {
	case len(x.args) != 1:
		return fail("command wait-for: too few arguments (need at least 1)")
	case x.has('L') || x.has('U'):
		return fail("wait-for -L and -U are not there: lock with flock(1)")
	case len(x.args[0]) > maxChannelName:
		return fail("the channel's name is longer than %d bytes", maxChannelName)
	}
	dir := filepath.Join(x.RunDir, "tmux-wait-"+hex.EncodeToString([]byte(x.socket)), hex.EncodeToString([]byte(x.args[0])))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if x.has('S') {
		return x.withLock(func() error { return signal(dir) })
	}
	var f *os.File
	err := x.withLock(func() (err error) {
		f, err = begin(dir)
		return err
	})
	if err != nil || f == nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-x.ctx.Done():
			f.Close()
		case <-stop:
		}
	}()
	if _, err = f.Read(make([]byte, 1)); x.ctx.Err() != nil {
		return x.ctx.Err()
	}
	return err
}

// begin returns the FIFO that a waiter reads, or nil if the channel was already signalled.
func begin(dir string) (*os.File, error) {
	err := os.Remove(filepath.Join(dir, "woken"))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	path := filepath.Join(dir, strconv.Itoa(os.Getpid()))
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // of a process that had the number before
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, &fs.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	return os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0) // with its own writer open, a read never returns EOF
}

// signal wakes all waiters of a channel, or else the next waiter.
func signal(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	woken := 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeNamedPipe == 0 {
			continue
		}
		f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil { // its reader was killed
			_ = os.Remove(path)
			continue
		}
		if _, err := f.Write([]byte{'\n'}); err == nil {
			woken++
		}
		_ = f.Close()
		_ = os.Remove(path)
	}
	if woken > 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "woken"), nil, 0o600)
}

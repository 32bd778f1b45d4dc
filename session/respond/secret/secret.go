//go:build unix

// Package secret resolves references to secrets:
//
//	env:NAME                 a variable of the environment
//	file:PATH                a file's first line; ~/ is the home directory
//	cmd:COMMAND              the first line that a command prints
//	keyring:SERVICE/ACCOUNT  an entry of the system's keyring
//
// It stores nothing. Errors name references, never values.
package secret

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/respond/shellcmd"
)

// Resolver resolves references to secrets. Its fields set the environment of the lookup.
type Resolver struct {
	LookupEnv func(name string) (string, bool) // nil: os.LookupEnv
	Env       []string                         // environment of commands; nil: the process's own
	Dir       string                           // base of relative paths, and working directory of commands; "": the process's own
	Timeout   time.Duration                    // of a lookup; 0: 30 s
}

const (
	defaultTimeout = 30 * time.Second
	maxBytes       = 64 << 10 // of a secret's source
)

var errEmpty = errors.New("it is empty")

// Resolve returns the value of a reference.
func (r *Resolver) Resolve(ctx context.Context, ref string) ([]byte, error) {
	if err := respond.CheckSecret(ref); err != nil {
		return nil, err
	}
	kind, name, _ := strings.Cut(ref, ":")
	value, err := r.lookUpWithTimeout(ctx, kind, name)
	if err == nil {
		value, err = singleLine(value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return value, nil
}

// lookUpWithTimeout runs a lookup with a time limit, as a keyring may wait for the user and a file may be a FIFO. A
// lookup that takes longer is abandoned.
func (r *Resolver) lookUpWithTimeout(ctx context.Context, kind, name string) ([]byte, error) {
	timeout := cmp.Or(r.Timeout, defaultTimeout)
	const margin = time.Second // shellcmd reports its timeout first
	ctx, cancel := context.WithTimeout(ctx, timeout+margin)
	defer cancel()
	type found struct {
		value []byte
		err   error
	}
	got := make(chan found, 1)
	go func() {
		value, err := r.lookUp(ctx, kind, name)
		got <- found{value, err}
	}()
	select {
	case f := <-got:
		return f.value, f.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("no answer within %v", timeout)
		}
		return nil, ctx.Err()
	}
}

// lookUp returns the raw value of a reference.
func (r *Resolver) lookUp(ctx context.Context, kind, name string) ([]byte, error) {
	switch kind {
	case "env":
		return r.env(name)
	case "file":
		return r.file(ctx, name)
	case "cmd":
		return r.command(ctx, name)
	}
	return fromKeyring(name)
}

// singleLine returns b without its line end: the rule that requested the secret presses Enter. Several lines are an
// error.
func singleLine(b []byte) ([]byte, error) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	switch {
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("it has several lines")
	case len(line) == 0:
		return nil, errEmpty
	}
	return line, nil
}

// env returns the value of an environment variable.
func (r *Resolver) env(name string) ([]byte, error) {
	lookupEnv := r.LookupEnv
	if lookupEnv == nil {
		lookupEnv = os.LookupEnv
	}
	v, ok := lookupEnv(name)
	if !ok {
		return nil, errors.New("the environment has no such variable")
	}
	return []byte(v), nil
}

// file returns the content of a file. It stops reading a FIFO when the context ends.
func (r *Resolver) file(ctx context.Context, path string) ([]byte, error) {
	path = r.Path(path)
	opened := context.AfterFunc(ctx, func() { unblockOpen(path) })
	f, err := os.Open(path)
	opened()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })() // of a FIFO
	return io.ReadAll(io.LimitReader(f, maxBytes))
}

// unblockOpen opens a FIFO for writing, so that an abandoned reader returns without data.
func unblockOpen(path string) {
	if st, err := os.Stat(path); err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_ = f.Close()
	}
}

// Path expands ~ in a path, and makes it relative to Dir.
func (r *Resolver) Path(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) || r.Dir == "" {
		return path
	}
	return filepath.Join(r.Dir, path)
}

// command returns the output of a shell command.
func (r *Resolver) command(ctx context.Context, line string) ([]byte, error) {
	c := shellcmd.Command{Line: line, Env: r.Env, Dir: r.Dir, Max: maxBytes, Timeout: cmp.Or(r.Timeout, defaultTimeout)}
	return c.Run(ctx)
}

// fromKeyring returns an entry of the keyring: the Secret Service on D-Bus, Keychain, or the Credential Manager.
func fromKeyring(name string) ([]byte, error) {
	service, account, ok := strings.Cut(name, "/")
	if !ok {
		u, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("whose? name an account, as in keyring:SERVICE/ACCOUNT: %w", err)
		}
		account = u.Username
	}
	v, err := keyring.Get(service, account)
	switch {
	case errors.Is(err, keyring.ErrNotFound):
		return nil, fmt.Errorf("the keyring has no entry for service %q and account %q", service, account)
	case err != nil:
		return nil, fmt.Errorf("keyring not reachable (%w); use file: or cmd: instead", err)
	}
	return []byte(v), nil
}

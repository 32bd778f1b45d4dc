//go:build unix

// Package sandboxlearn records what a command accesses and creates a sandbox profile from it. It prepares the
// request before the command starts, and Learn writes the profile after its end.
package sandboxlearn

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// Begin makes the session record what its command accesses, for a profile with this name. An empty name does nothing.
// replace allows it to overwrite a profile that a user wrote.
func Begin(name string, replace bool, n *api.NewSession) error {
	if name == "" {
		return nil
	}
	if strings.HasPrefix(name, "-") { // the next flag, or the -- before the command
		return exit.Usagef("--observe %s: profile name missing; it must not start with -, "+
			"as in --observe build -- make", name)
	}
	if _, err := sandbox.Decode("", []byte("["+name+"]\n")); err != nil {
		return exit.Usagef("--observe %s: invalid profile name; use letters, digits, - and _", name)
	}
	if err := checkName(name, replace); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "longterm-observe-")
	n.Observe = filepath.Join(dir, "observed")
	return err
}

// checkName returns an error if a profile with this name must not be written. It is called before the command runs.
func checkName(name string, replace bool) error {
	if _, ok := sandbox.Builtin(name); ok {
		return exit.Usagef("--observe %s: built-in profile; use another name", name)
	}
	dirs, err := paths.Default()
	if err != nil || replace {
		return err
	}
	f, err := sandbox.Load(dirs.SandboxFile())
	if err != nil {
		return fmt.Errorf("profile not written: %w", err)
	}
	if p, err := f.Profile(name); err == nil && !p.IsLearned() {
		return exit.Usagef("--observe %s: %s has a profile of this name that was not learned; use another name, or --replace to overwrite it", name, dirs.SandboxFile())
	}
	return nil
}

// printPrivateFiles prints the files that a command wrote to directories that a sandbox keeps private.
func printPrivateFiles(out io.Writer, paths []string) error {
	paths = slices.DeleteFunc(paths, func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil // it was for the while that the command ran
	})
	if len(paths) == 0 {
		return nil
	}
	const shown = 5
	more := ""
	if len(paths) > shown {
		more = fmt.Sprintf(" and %d more", len(paths)-shown)
		paths = paths[:shown]
	}
	for i := range paths {
		paths[i] = output.Printable(paths[i])
	}
	_, err := fmt.Fprintf(out, "longterm: omitted, because a sandbox has a private /tmp: %s%s; add paths to `write` if needed\n", strings.Join(paths, ", "), more)
	return err
}

// learnTime is how long Learn waits after the command's end for the complete record.
const learnTime = 10 * time.Second

// Learn writes the profile of an ended command, and prints it. onDifference sets the profile's answer for accesses that
// it does not list; empty: ask.
func Learn(out io.Writer, name, onDifference string, n *api.NewSession) error {
	if name == "" {
		return nil
	}
	defer os.RemoveAll(filepath.Dir(n.Observe))
	all, err := awaitObserved(n.Observe)
	if err != nil {
		return fmt.Errorf("profile not written: %w", err)
	}
	dirs, err := paths.Default()
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir()
	at := sandbox.Place{Home: home, Cwd: n.Cwd}
	p := sandbox.Learn(name, all, at)
	p.OnDifference = cmp.Or(onDifference, p.OnDifference)
	p.Hosts = withoutOwn(p.Hosts)
	if len(p.Hosts) == 0 && p.Network == sandbox.NetworkHosts {
		p.Network = sandbox.NetworkOff
	}
	src, err := os.ReadFile(dirs.SandboxFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := sandbox.PutProfile(src, p)
	if _, err := sandbox.Decode(dirs.SandboxFile(), text); err != nil {
		return fmt.Errorf("profile not written: %w", err)
	}
	if err := config.WriteFile(dirs.SandboxFile(), text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "longterm: profile %s: %s read, %d written, %s, %s; see %s\n",
		name, output.CountNoun(len(p.Read), "path", "paths"), len(p.Write), output.CountNoun(len(p.Programs), "program", "programs"),
		output.CountNoun(len(p.Hosts), "host", "hosts"), dirs.SandboxFile())
	return errors.Join(err, printPrivateFiles(out, sandbox.OmittedWrites(all, at)))
}

// dialTimeout is the timeout of a connection to a server on this machine.
const dialTimeout = 300 * time.Millisecond

// withoutOwn returns hosts without the loopback addresses on which no program listens any longer: the command served
// them itself. It can do so in a sandbox too, which has its own loopback.
func withoutOwn(hosts []string) []string {
	return slices.DeleteFunc(hosts, func(s string) bool {
		h, err := sandbox.ParseHost(s)
		if err != nil || !h.Addr.IsValid() || !h.Addr.Addr().IsLoopback() || h.Port == 0 {
			return false
		}
		c, err := net.DialTimeout("tcp", netip.AddrPortFrom(h.Addr.Addr(), uint16(h.Port)).String(), dialTimeout)
		if err != nil {
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		_ = c.Close()
		return false
	})
}

// awaitObserved returns the recorded accesses once the file is complete.
func awaitObserved(path string) ([]confine.Observed, error) {
	for end := time.Now().Add(learnTime); ; time.Sleep(20 * time.Millisecond) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("no accesses recorded: %w", err)
		}
		all, err := sandbox.ReadObserved(f)
		_ = f.Close() // it was read
		if err == nil || !errors.Is(err, io.ErrUnexpectedEOF) || time.Now().After(end) {
			return all, err
		}
	}
}

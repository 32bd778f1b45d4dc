//go:build unix

// Package observe has a command's doings written down, and makes a sandbox profile of them.
package observe

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

// Begin asks for what a command does to be written down, for a profile of a name; empty: it does not. replace says that a profile
// of a person's may be lost for it.
func Begin(name string, replace bool, n *api.NewSession) error {
	if name == "" {
		return nil
	}
	if strings.HasPrefix(name, "-") { // the next flag, or the -- before the command
		return exit.Usagef("--observe %s: the name of the profile is missing; give one that does not begin with -, "+
			"as in --observe build -- make", name)
	}
	if _, err := sandbox.Decode("", []byte("["+name+"]\n")); err != nil {
		return exit.Usagef("--observe %s: the name of a profile has letters, digits, - and _", name)
	}
	if err := mayBe(name, replace); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "longterm-observe-")
	n.Observe = filepath.Join(dir, "observed")
	return err
}

// mayBe says whether a profile of a name may be written, before a command is run for it.
func mayBe(name string, replace bool) error {
	if _, ok := sandbox.Builtin(name); ok {
		return exit.Usagef("--observe %s: this profile is built in, and others rely on what it is; give another name", name)
	}
	dirs, err := paths.Default()
	if err != nil || replace {
		return err
	}
	f, err := sandbox.Load(dirs.SandboxFile())
	if err != nil {
		return fmt.Errorf("no profile could be written: %w", err)
	}
	if p, err := f.Profile(name); err == nil && !p.Learned() {
		return exit.Usagef("--observe %s: %s has a profile of this name that was not learned; give another name, or --replace to lose it", name, dirs.SandboxFile())
	}
	return nil
}

// tellLeftOut names files that a command has left where a sandbox has a directory of its own.
func tellLeftOut(tell io.Writer, paths []string) error {
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
	_, err := fmt.Fprintf(tell, "longterm: left out, as a sandbox has a /tmp of its own: %s%s; add what is to be written to `write`\n", strings.Join(paths, ", "), more)
	return err
}

// learnTime is how long what was observed may take to be there after the command's end.
const learnTime = 10 * time.Second

// Learn writes the profile of a command that has ended, and tells of it. onDifference takes the place of what a learned
// profile says of what it does not list; empty: it is asked about.
func Learn(tell io.Writer, name, onDifference string, n *api.NewSession) error {
	if name == "" {
		return nil
	}
	defer os.RemoveAll(filepath.Dir(n.Observe))
	all, err := awaitObserved(n.Observe)
	if err != nil {
		return fmt.Errorf("no profile was written: %w", err)
	}
	dirs, err := paths.Default()
	if err != nil {
		return err
	}
	home, _ := os.UserHomeDir()
	at := sandbox.Place{Home: home, Cwd: n.Cwd}
	p := sandbox.Learn(name, all, at)
	p.OnDiffer = cmp.Or(onDifference, p.OnDiffer)
	p.Hosts = withoutOwn(p.Hosts)
	if len(p.Hosts) == 0 && p.Network == sandbox.NetworkHosts {
		p.Network = sandbox.NetworkOff
	}
	src, err := os.ReadFile(dirs.SandboxFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := sandbox.Put(src, p)
	if _, err := sandbox.Decode(dirs.SandboxFile(), text); err != nil {
		return fmt.Errorf("no profile was written: %w", err)
	}
	if err := config.Write(dirs.SandboxFile(), text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(tell, "longterm: profile %s: %s read, %d written, %s, %s; look at it in %s\n",
		name, output.HowMany(len(p.Read), "path", "paths"), len(p.Write), output.HowMany(len(p.Programs), "program", "programs"),
		output.HowMany(len(p.Hosts), "host", "hosts"), dirs.SandboxFile())
	return errors.Join(err, tellLeftOut(tell, sandbox.LeftOut(all, at)))
}

// ownTime is how long a server on this machine gets to take a connection.
const ownTime = 300 * time.Millisecond

// withoutOwn leaves out the addresses of loopback that nothing listens at any more: the command served them itself, and
// does so in a sandbox, whose loopback is its own.
func withoutOwn(hosts []string) []string {
	return slices.DeleteFunc(hosts, func(s string) bool {
		h, err := sandbox.ParseHost(s)
		if err != nil || !h.Addr.IsValid() || !h.Addr.Addr().IsLoopback() || h.Port == 0 {
			return false
		}
		c, err := net.DialTimeout("tcp", netip.AddrPortFrom(h.Addr.Addr(), uint16(h.Port)).String(), ownTime)
		if err != nil {
			return errors.Is(err, syscall.ECONNREFUSED)
		}
		_ = c.Close()
		return false
	})
}

// awaitObserved reads what was observed once it is whole.
func awaitObserved(path string) ([]confine.Observed, error) {
	for end := time.Now().Add(learnTime); ; time.Sleep(20 * time.Millisecond) {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("nothing was observed: %w", err)
		}
		all, err := sandbox.ReadObserved(f)
		_ = f.Close() // it was read
		if err == nil || !errors.Is(err, io.ErrUnexpectedEOF) || time.Now().After(end) {
			return all, err
		}
	}
}

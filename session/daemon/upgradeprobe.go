//go:build unix

package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Before keepers execute another program in their place, it is run once to report what it is: a longterm that can
// continue with our state. Otherwise nothing is changed.

// ProbeFlag makes `longterm version` print the line for upgrades.
const ProbeFlag = "--probe"

// probeToken starts that line. The number is the version of its form.
const probeToken = "longterm-probe 1 "

const (
	// probeTime bounds the run of a probe.
	probeTime  = 10 * time.Second
	probeBytes = 4096 // bound of its output, in bytes
)

// capabilities lists what a program supports: the keeper protocols and the newest database schema.
type capabilities struct {
	minProtocol, protocol uint64
	schema                int
}

// ownCapabilities returns the abilities of this program.
func ownCapabilities() capabilities {
	return capabilities{wire.Version, wire.Version, store.SchemaVersion()}
}

// ProbeLine returns the line for this program.
func ProbeLine() string { return ownCapabilities().line() }

// line formats the abilities as in ProbeLine.
func (a capabilities) line() string {
	return fmt.Sprintf("%sprotocol=%d..%d schema=%d", probeToken, a.minProtocol, a.protocol, a.schema)
}

// parseProbe parses a program's line. It skips unknown lines and words, which newer programs may add.
func parseProbe(out []byte) (a capabilities, err error) {
	for line := range strings.Lines(string(out)) {
		words, ours := strings.CutPrefix(strings.TrimRight(line, "\r\n"), probeToken)
		if !ours {
			continue
		}
		known := 0
		for _, word := range strings.Fields(words) {
			if n, _ := fmt.Sscanf(word, "protocol=%d..%d", &a.minProtocol, &a.protocol); n == 2 {
				known |= 1
			}
			if n, _ := fmt.Sscanf(word, "schema=%d", &a.schema); n == 1 {
				known |= 2
			}
		}
		if known == 3 {
			return a, nil
		}
	}
	return a, errors.New("not a longterm program, or too old")
}

// check returns why a program with other abilities cannot replace this one.
func (a capabilities) check(ours capabilities) error {
	switch {
	case a.minProtocol > ours.protocol:
		return fmt.Errorf("too new: keeper protocols %d to %d, the sessions need %d; use a version in between", a.minProtocol, a.protocol, ours.protocol)
	case a.protocol < ours.protocol:
		return fmt.Errorf("too old: keeper protocol %d, the sessions need %d", a.protocol, ours.protocol)
	case a.schema < ours.schema:
		return fmt.Errorf("too old: database schema %d, the database has %d", a.schema, ours.schema)
	}
	return nil
}

// openProgram opens an executable and makes sure that it may take our place.
func openProgram(ctx context.Context, path string) (*os.File, error) {
	refuse := func(err error) error {
		return api.Errorf(api.CodeInvalid, "%s is not taken: %v", path, err).
			WithHint("nothing was changed; run `daemon upgrade` of a longterm that is not older than the daemon's, by its path")
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, refuse(err)
	case !st.Mode().IsRegular():
		return nil, refuse(errors.New("it is no file to execute"))
	case st.Mode()&0o111 == 0:
		return nil, refuse(errors.New("it is not executable"))
	}
	exe, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a FIFO
	if err != nil {
		return nil, refuse(err)
	}
	if err := probe(ctx, exe); err != nil {
		return nil, errors.Join(refuse(err), exe.Close())
	}
	return exe, nil
}

// probe runs the opened file and reads its abilities.
func probe(ctx context.Context, exe *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	path, _ := sys.SharedFilePath(exe.Fd())
	if _, err := os.Stat(path); err != nil {
		path = exe.Name() // no Linux
	}
	cmd := exec.CommandContext(ctx, path, "version", ProbeFlag)
	cmd.Args[0] = "longterm"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for processes that hold its output open
	out := &headBuffer{max: probeBytes}
	cmd.Stdout = out
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("`longterm version %s` did not end within %s", ProbeFlag, probeTime)
	case err != nil:
		return fmt.Errorf("`longterm version %s` does not run: %w", ProbeFlag, err)
	}
	theirs, err := parseProbe(out.Bytes())
	if err != nil {
		return err
	}
	return theirs.check(ownCapabilities())
}

// headBuffer stores the first bytes that are written to it.
type headBuffer struct {
	bytes.Buffer
	max int
}

func (b *headBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.max-b.Len())])
	return len(p), nil
}

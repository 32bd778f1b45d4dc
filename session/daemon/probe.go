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

// Before keepers execute another program over themselves it is run once and has to say what
// it is: a program of our kind that goes on with what we hold. Nothing has happened if not.

// ProbeFlag has `longterm version` print the line that an upgrade asks for.
const ProbeFlag = "--probe"

// probeToken begins that line. The number is the form's of what follows.
const probeToken = "longterm-probe 1 "

const (
	probeTime  = 10 * time.Second
	probeBytes = 4096 // of its output
)

// abilities are what a program says of itself: the keepers' protocols it speaks, and the
// newest form of the database it reads.
type abilities struct {
	minProtocol, protocol uint64
	schema                int
}

func ownAbilities() abilities {
	return abilities{wire.Version, wire.Version, store.SchemaVersion()}
}

// ProbeLine is what this program says of itself.
func ProbeLine() string { return ownAbilities().line() }

func (a abilities) line() string {
	return fmt.Sprintf("%sprotocol=%d..%d schema=%d", probeToken, a.minProtocol, a.protocol, a.schema)
}

// parseProbe reads what a program said. Lines and words it does not know are skipped: a
// newer one may say more.
func parseProbe(out []byte) (a abilities, err error) {
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
	return a, errors.New("it is no longterm, or one that is too old to take this one's place")
}

// check says why a program with other abilities cannot take this one's place.
func (a abilities) check(ours abilities) error {
	switch {
	case a.minProtocol > ours.protocol:
		return fmt.Errorf("it speaks the keepers' protocol %d to %d, the sessions need %d; a version between it and the one that runs does", a.minProtocol, a.protocol, ours.protocol)
	case a.protocol < ours.protocol:
		return fmt.Errorf("it is older: it speaks the keepers' protocol up to %d, the sessions need %d", a.protocol, ours.protocol)
	case a.schema < ours.schema:
		return fmt.Errorf("it is older: it reads databases up to form %d, this one has %d", a.schema, ours.schema)
	}
	return nil
}

// openProgram opens an executable and makes sure that it may take our place.
func openProgram(ctx context.Context, path string) (*os.File, error) {
	refuse := func(err error) error {
		return api.Errorf(api.CodeInvalid, "%s is not taken: %v", path, err).
			WithHint("everything goes on as before; a longterm that is not older than the daemon's can be upgraded to: run the verb of that one, by its path")
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

// probe runs the very file that is open, and reads what it says of itself.
func probe(ctx context.Context, exe *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	path, _ := sys.SharedFile(exe.Fd())
	if _, err := os.Stat(path); err != nil {
		path = exe.Name() // no Linux
	}
	cmd := exec.CommandContext(ctx, path, "version", ProbeFlag)
	cmd.Args[0] = "longterm"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // for who holds its output
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
	return theirs.check(ownAbilities())
}

// headBuffer keeps the first bytes that are written to it.
type headBuffer struct {
	bytes.Buffer
	max int
}

func (b *headBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.max-b.Len())])
	return len(p), nil
}

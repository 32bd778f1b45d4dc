//go:build unix

package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/companion"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// load is the activity of clients while their daemon is killed: they type, run lines and read output as it arrives.
// Each verifies its results.
type load struct {
	c           *client.Client
	dir         string // output directory of the sessions' programs
	stop        atomic.Bool
	work        sync.WaitGroup
	mu          sync.Mutex
	differences []string // descriptions of lost or duplicated data

	keys, lines, streamed   atomic.Int64
	badKeys, badLines       atomic.Int64
	badStreams, brokenCalls atomic.Int64
}

// api returns a client of the bench's instance.
func (b *sessionBench) api() *client.Client {
	dirs := paths.Dirs{Run: filepath.Join(b.dir, "lt", "run"), State: filepath.Join(b.dir, "lt", "state"), Config: filepath.Join(b.dir, "lt")}
	return client.New(client.Options{
		Dirs: dirs, Build: b.program.Version, Program: b.self,
		KeeperArgv: func() []string { return companion.KeeperArgv(dirs, paths.MainKeeper, true) },
	})
}

func newLoad(b *sessionBench) *load { return &load{c: b.api(), dir: b.dir} }

// addDifference records a difference.
func (l *load) addDifference(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.differences) < 50 {
		l.differences = append(l.differences, fmt.Sprintf(format, v...))
	}
}

// typeKeys types into a session, a few bytes at a time, and verifies that each key arrives once.
func (l *load) typeKeys(ctx context.Context, b *sessionBench, name string) error {
	file := filepath.Join(l.dir, name)
	_, err := b.lt(ctx, "new", "-n", name, "--", "sh", "-c", "stty raw -echo; echo READY; exec cat >'"+file+"'")
	if err == nil {
		_, err = b.lt(ctx, "wait", name, "--for", "text=READY", "--since", "0")
	}
	if err != nil {
		return err
	}
	l.work.Go(func() {
		var want bytes.Buffer
		for n := 0; !l.stop.Load(); n++ {
			key := strconv.Itoa(n) + ","
			if _, err := l.c.Session(name).Type(ctx, api.Input{Text: key, ID: name + "-" + key}); err != nil {
				l.brokenCalls.Add(1)
				l.addDifference("%s: key %d: %v", name, n, err)
				return
			}
			want.WriteString(key)
			l.keys.Add(1)
			pause(ctx, 2*time.Millisecond)
		}
		l.compareFile(ctx, name, file, want.Bytes(), &l.badKeys, ",")
	})
	return nil
}

// runLines runs lines in a shell, in order.
func (l *load) runLines(ctx context.Context, b *sessionBench, name string) error {
	file := filepath.Join(l.dir, name)
	if _, err := b.lt(ctx, "new", "-n", name, "--", "bash", "--norc", "--noprofile"); err != nil {
		return err
	}
	l.work.Go(func() {
		var want bytes.Buffer
		for n := 0; !l.stop.Load(); n++ {
			line := fmt.Sprintf("echo %d >>'%s'; echo out%d", n, file, n)
			r, err := l.c.Session(name).Exec(ctx, api.Exec{Line: line, Wait: true})
			fmt.Fprintln(&want, n)
			l.lines.Add(1)
			if err != nil || r.ExitCode == nil || *r.ExitCode != 0 || strings.TrimSpace(r.Output) != fmt.Sprint("out", n) {
				l.brokenCalls.Add(1)
				l.addDifference("%s: line %d: %s %q %s %v", name, n, r.State, r.Output, r.Error, err)
			}
		}
		l.compareFile(ctx, name, file, want.Bytes(), &l.badLines, "\n")
	})
	return nil
}

// compareFile waits until a program has written its input, and counts missing and duplicate bytes.
func (l *load) compareFile(ctx context.Context, name, file string, want []byte, bad *atomic.Int64, end string) {
	var got []byte
	for until := time.Now().Add(20 * time.Second); ; {
		got, _ = os.ReadFile(file) // not there yet, or as it is
		if bytes.Equal(got, want) || ctx.Err() != nil {
			return
		}
		if time.Now().After(until) {
			break
		}
		pause(ctx, 20*time.Millisecond)
	}
	seen := map[string]int{}
	for _, part := range strings.Split(string(got), end) {
		seen[part]++
	}
	wrong := int64(0)
	for _, part := range strings.Split(string(want), end) {
		if seen[part] != 1 {
			wrong++
		}
	}
	bad.Add(max(1, wrong))
	l.addDifference("%s: %d bytes came, %d were given; %d are lost or doubled", name, len(got), len(want), wrong)
}

// follow reads a session's output as it arrives and compares it with the output of seq.
func (l *load) follow(ctx context.Context, name string, lines int) {
	l.work.Go(func() {
		sum := sha256.New()
		var n uint64
		last := []byte(strconv.Itoa(lines) + "\r\n")
		var tail []byte
		err := l.c.Session(name).Follow(ctx, 0, func(o api.Output) error {
			_, _ = sum.Write(o.Data)
			n += uint64(len(o.Data)) + o.Gap
			tail = append(tail, o.Data...)
			tail = tail[max(0, len(tail)-64):]
			if bytes.HasSuffix(tail, last) {
				return errAllRead
			}
			return nil
		})
		want, _ := floodSum(lines)
		l.streamed.Add(int64(n))
		if ctx.Err() == nil && (err != errAllRead || !bytes.Equal(sum.Sum(nil), want)) {
			l.badStreams.Add(1)
			l.addDifference("follower of %s: %d bytes, not what was printed: %v", name, n, err)
		}
	})
}

// errAllRead ends follow after the last line.
var errAllRead = fmt.Errorf("everything was read")

// floodSum returns the hash and the length of seq's output on a terminal.
func floodSum(lines int) (sum []byte, n uint64) {
	want := &countingHash{Hash: sha256.New()}
	var line []byte
	for i := 1; i <= lines; i++ {
		line = append(strconv.AppendInt(line[:0], int64(i), 10), '\r', '\n')
		_, _ = want.Write(line)
	}
	return want.Sum(nil), want.n
}

// end lets the clients finish their current work, and waits for them.
func (l *load) end() {
	l.stop.Store(true)
	l.work.Wait()
	l.c.Close()
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

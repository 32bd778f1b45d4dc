//go:build unix

package bench

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/program"
)

// pexpectDriver is the Python program that runs dialogues by pexpect.
//
//go:embed expect.py
var pexpectDriver string

// expectDriver is the Tcl program that runs dialogues by expect.
//
//go:embed expect.tcl
var expectDriver string

// dialogueRunner runs dialogues.
type dialogueRunner interface {
	runDialogue(ctx context.Context, d *dialogue, dir string) (outcome, error) // runs a dialogue in dir, up to the program's exit status
	close() error
}

// outcome is the result of a dialogue.
type outcome struct {
	seconds float64
	rss     int64  // peak of the holder's memory, KiB
	failure string // why it failed; "" if correct
}

// dialogueTime limits a step, unless the dialogue sets another limit.
const dialogueTime = 30 * time.Second

// library runs dialogues in this process.
type library struct{}

func (library) close() error { return nil }

func (library) runDialogue(ctx context.Context, d *dialogue, dir string) (outcome, error) {
	began := time.Now()
	p, err := program.Start(ctx, program.Cmd{Argv: d.argv, Dir: dir})
	if err != nil {
		return outcome{}, err
	}
	err = d.runSteps(ctx, p)
	h := outcome{seconds: time.Since(began).Seconds(), rss: peakRSS()}
	if err != nil {
		h.failure = err.Error()
	}
	return h, p.Close()
}

func peakRSS() int64 {
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) != nil {
		return 0
	}
	return int64(ru.Maxrss)
}

// runSteps runs a dialogue with a started program.
func (d *dialogue) runSteps(ctx context.Context, p *program.Program) error {
	for _, s := range d.steps {
		if err := s.perform(ctx, p, d.timeout()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout())
	defer cancel()
	e, err := p.Wait(ctx)
	if err == nil && e.Code != d.exit {
		err = fmt.Errorf("exit status %d", e.Code)
	}
	return err
}

// perform performs one step of a dialogue.
func (s *turn) perform(ctx context.Context, p *program.Program, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	switch {
	case s.expect != "":
		_, err := p.Expect(ctx, program.Text(strings.TrimRight(s.expect, "\r"))) // a line's end is no text here
		return err
	case s.regexp != "":
		_, err := p.Expect(ctx, program.Regexp(s.regexp))
		return err
	case s.secret != "":
		if err := p.Secret(ctx, []byte(s.secret)); err != nil {
			return err
		}
		return p.Keys("<Enter>")
	}
	return p.Send(s.send)
}

// rival runs dialogues in another process, which reads them on its standard input.
type rival struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	encode func(d *dialogue, dir string) (string, error)
	decode func(line string) (outcome, error)
}

func newRival(ctx context.Context, encode func(*dialogue, string) (string, error), decode func(string) (outcome, error), argv ...string) (*rival, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &rival{cmd, in, bufio.NewReader(out), encode, decode}, nil
}

func (r *rival) close() error { return errors.Join(r.in.Close(), r.cmd.Wait()) }

func (r *rival) runDialogue(_ context.Context, d *dialogue, dir string) (outcome, error) {
	msg, err := r.encode(d, dir)
	if err != nil {
		return outcome{}, err
	}
	if _, err := io.WriteString(r.in, msg+"\n"); err != nil {
		return outcome{}, err
	}
	line, err := r.out.ReadString('\n')
	if err != nil {
		return outcome{}, fmt.Errorf("%s ended: %w", filepath.Base(r.cmd.Path), err)
	}
	return r.decode(strings.TrimSpace(line))
}

// newPexpect returns pexpect in the first Python that has it. eager removes its pause of 50 ms before it sends.
func newPexpect(ctx context.Context, eager bool, window int) (dialogueRunner, error) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import pexpect").Run() == nil {
			encode := func(d *dialogue, dir string) (string, error) { return encodePexpect(d, dir, eager, window) }
			return newRival(ctx, encode, decodePexpect, python, "-c", pexpectDriver)
		}
	}
	return nil, fmt.Errorf("pexpect: %w (install python3-pexpect)", exec.ErrNotFound)
}

func encodePexpect(d *dialogue, dir string, eager bool, window int) (string, error) {
	var steps []map[string]string
	for _, s := range d.steps {
		steps = append(steps, map[string]string{"expect": s.expect, "regexp": s.regexp, "send": s.send, "secret": s.secret})
	}
	b, err := json.Marshal(map[string]any{
		"argv": d.argv, "dir": dir, "steps": steps, "exit": d.exit, "eager": eager, "window": window,
		"timeout": d.timeout().Seconds(),
	})
	return string(b), err
}

func decodePexpect(line string) (outcome, error) {
	var r struct {
		Error   string
		Seconds float64
		RSS     int64 `json:"rss_kib"`
	}
	err := json.Unmarshal([]byte(line), &r)
	return outcome{r.Seconds, r.RSS, r.Error}, err
}

func newExpect(ctx context.Context) (dialogueRunner, error) {
	if _, err := exec.LookPath("expect"); err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	return newRival(ctx, encodeExpect, decodeExpect, "expect", "-c", expectDriver)
}

func encodeExpect(d *dialogue, dir string) (string, error) {
	var steps []string
	for _, s := range d.steps {
		switch {
		case s.expect != "":
			steps = append(steps, "expect", s.expect)
		case s.regexp != "":
			steps = append(steps, "regexp", s.regexp)
		case s.secret != "":
			steps = append(steps, "send", s.secret+"\r")
		default:
			steps = append(steps, "send", s.send)
		}
	}
	sized := "0"
	if d.sized {
		sized = "1"
	}
	return tclList(fmt.Sprint(d.timeout().Seconds()), dir, tclList(d.argv...), fmt.Sprint(d.exit), sized, tclList(steps...)), nil
}

// tclList returns a Tcl list: all characters but letters and digits are escaped.
func tclList(words ...string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w == "" {
			b.WriteString("{}")
		}
		for _, r := range w {
			if r < 0x80 && (r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
				b.WriteRune(r)
			} else {
				fmt.Fprintf(&b, `\u%04x`, r)
			}
		}
	}
	return b.String()
}

func decodeExpect(line string) (h outcome, err error) {
	if _, err = fmt.Sscan(line, &h.seconds, &h.rss); err != nil {
		return h, fmt.Errorf("%w in %q", err, line)
	}
	if f := strings.SplitN(line, " ", 3); len(f) == 3 {
		h.failure = f[2]
	}
	return h, nil
}

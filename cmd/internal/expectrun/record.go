//go:build unix

package expectrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/expect"
	"github.com/longterm-dev/longterm/session/expect/remote"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// dialogueRecorder records a user's dialogue with a program as a script. A remote.Talk calls its methods, one at a time.
type dialogueRecorder struct {
	rec    *expect.Recorder
	t      *termio.Terminal
	filter attach.Filter
	buf    []byte
}

func (r *dialogueRecorder) Output(_ uint64, data []byte) {
	r.rec.Output(data)
	r.buf = r.filter.Append(r.buf[:0], data)
	_ = r.t.Draw(r.buf) // a closed terminal also ends the keys
}

func (r *dialogueRecorder) OnInput(in respond.Input, echo respond.EchoState) {
	r.rec.SetEcho(echo)
	r.rec.AddInput(in.Data)
}

// Record runs a program on this terminal, and writes a script of the dialogue.
func (x *Runner) Record(ctx context.Context, argv []string) error {
	if _, err := os.Stat(x.Recording); !errors.Is(err, fs.ErrNotExist) {
		return exit.Usagef("%s exists; remove it first or record to another file", x.Recording)
	}
	cwd, err := filepath.Abs("")
	if err != nil {
		return err
	}
	var leave attach.Chords
	if err := leave.Bind(x.DetachKey, attach.Detach); err != nil {
		return exit.Usage(err)
	}
	t, err := termio.Open(x.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	defer t.Restore(false)
	n := api.NewSession{Name: x.Name, Argv: argv, Cwd: cwd, Env: os.Environ(), Temporary: !x.Keep}
	n.Cols, n.Rows = t.Size()
	info, err := x.Client.NewSession(ctx, n)
	if err != nil {
		return err
	}
	s := x.Client.Session(info.ID)
	r := &dialogueRecorder{rec: expect.NewRecorder(argv), t: t}
	left, err := r.work(ctx, s, &leave)
	t.Restore(false)
	after := context.WithoutCancel(ctx)
	if !left {
		err = errors.Join(err, r.exit(after, s))
	}
	src, scriptErr := r.rec.Script()
	if scriptErr == nil {
		scriptErr = os.WriteFile(x.Recording, src, 0o600)
	}
	if !x.Keep {
		err = errors.Join(err, s.Remove(after, true))
	}
	if err = errors.Join(err, scriptErr); err == nil {
		x.printRecorded(x.Recording, src)
	}
	return err
}

// work passes keys and sizes on until the program ends or the user leaves.
func (r *dialogueRecorder) work(ctx context.Context, s *client.Session, leave *attach.Chords) (left bool, err error) {
	talk := remote.Follow(ctx, s, 0, r)
	defer talk.Close()
	keys, stop := make(chan []byte), make(chan struct{})
	defer close(stop)
	go r.t.Keys(keys, stop)
	for {
		ended := false
		change, err := talk.WithLock(func(e bool) { ended = e })
		if ended || err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return true, nil // what was recorded is kept
		case <-change:
		case in, ok := <-keys:
			if !ok {
				return true, nil
			}
			out, do, _ := leave.Feed(in) // input after the detach key is dropped
			away := do == attach.Detach
			if len(out) > 0 {
				err = talk.Type(ctx, api.Input{Data: out}, out)
			}
			var e *api.Error
			if errors.As(err, &e) && e.Code == api.CodeEnded {
				err = nil // the end is on its way
			}
			if away || err != nil {
				return true, err
			}
		case <-r.t.Resized:
			cols, rows := r.t.Size()
			_ = s.Resize(ctx, cols, rows) // a resize races with the end
		}
	}
}

// exit records how the program ended.
func (r *dialogueRecorder) exit(ctx context.Context, s *client.Session) error {
	v, err := remote.ExitState(ctx, s)
	if err == nil && v.Exited {
		r.rec.Exit(v.ExitCode)
	}
	return err
}

// printRecorded prints where the script was written.
func (x *Runner) printRecorded(path string, src []byte) {
	fmt.Fprintf(x.Stderr, "[recorded to %s; run it with `longterm expect %s`]\n", path, shellquote.Line([]string{path}))
	if n := bytes.Count(src, []byte("secret: env:SECRET_")); n > 0 {
		names := "SECRET_1"
		if n > 1 {
			names = fmt.Sprintf("SECRET_1 to SECRET_%d", n)
		}
		fmt.Fprintf(x.Stderr, "[hidden input was not recorded: set %s in the environment, or use other references]\n", names)
	}
}

//go:build unix

package viewsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/page"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Tail returns the screen and the newest rows of history before it, from the same moment.
func (v source) Tail(ctx context.Context, id string, rows int) (page.Page, error) {
	s, err := v.c.Session(id).Screen(ctx, client.ScreenQuery{Scrollback: fmt.Sprintf("-%d:", rows), Blocks: true, Pictures: true})
	if err != nil || s.Alt { // what lies under a full-screen program does not belong to it
		return page.Page{Lines: s.Lines, Cols: s.Cols}, err
	}
	p := page.Page{Cols: s.Cols, Lines: append(s.Scrollback, s.Lines...)}
	if len(s.Scrollback) > 0 {
		p.First = s.Scrollback[0].Row
	}
	return p, nil
}

// Older returns rows of history above a row.
func (v source) Older(ctx context.Context, id string, before, rows int) ([]render.Line, error) {
	s, err := v.c.Session(id).Screen(ctx, client.ScreenQuery{
		Scrollback: fmt.Sprintf("%d:%d", max(0, before-rows), before), Blocks: true, Pictures: true,
	})
	return s.Scrollback, err
}

// maxCommands limits the commands that the viewer can jump to.
const maxCommands = 500

// Commands returns the newest commands of the session's shell.
func (v source) Commands(ctx context.Context, id string) ([]page.Command, error) {
	list, err := v.c.Commands(ctx, client.CommandQuery{Session: id, Limit: maxCommands})
	out := make([]page.Command, 0, len(list))
	for i := range list {
		out = append(out, page.Command{N: list[i].N, Text: list[i].Text})
	}
	return out, err
}

// maxCopied limits a command's output that is copied, in bytes.
const maxCopied = 16 << 20

// Output returns a command's output as plain text.
func (v source) Output(ctx context.Context, id string, n int) (string, error) {
	s := v.c.Session(id)
	c, err := s.Command(ctx, n)
	if err != nil {
		return "", err
	}
	var plain plaintext.Writer
	end := c.Output.End
	for from := c.Output.Start; end == 0 || from < end; {
		o, err := s.Output(ctx, from, 0)
		if err != nil {
			return "", err
		}
		if len(o.Data) == 0 && o.Gap == 0 {
			break
		}
		if o.Next-c.Output.Start > maxCopied {
			return "", fmt.Errorf("the command printed more than %d MiB; `longterm output` writes it to a file", maxCopied>>20)
		}
		if end > 0 && o.Next > end {
			o.Data = o.Data[:max(0, len(o.Data)-int(o.Next-end))]
		}
		_, _ = plain.Write(o.Data) // never fails
		from = o.Next
	}
	var b strings.Builder
	plain.Lines(func(l plaintext.Line) {
		b.Write(l.Text)
		if !l.More {
			b.WriteByte('\n')
		}
	})
	rest, _, _ := plain.AppendUnfinished(nil)
	b.Write(rest)
	return b.String(), nil
}

// maxName limits a session's name, in bytes.
const maxName = 128

// pastLabel is the label of a playback session. Its value is the name of the played session.
const pastLabel = "longterm.past"

// playbackName returns a name for the playback of a session, or "" to let the daemon choose one.
func playbackName(name string) string {
	if name += "-past"; len(name) <= maxName {
		return name
	}
	return ""
}

// StartPlayback starts a session that plays another session's history, paused at its end. The playback ends when this viewer
// exits or is killed. It belongs to the daemon, so no signal or end of input would reach it.
func (v source) StartPlayback(ctx context.Context, id string) (string, error) {
	of, err := v.c.Session(id).Info(ctx)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	n, err := ShellHere()
	if err != nil {
		return "", err
	}
	n.Name, n.Argv, n.Temporary = playbackName(of.Name), []string{self, "play", of.ID, "--from", "-1ms", "--paused", "--pid", strconv.Itoa(os.Getpid())}, true
	n.Labels = map[string]string{pastLabel: of.Name}
	s, err := v.c.NewSession(ctx, n)
	var problem *api.Error
	if errors.As(err, &problem) && problem.Code == api.CodeNameTaken { // it is looked at twice
		n.Name = ""
		s, err = v.c.NewSession(ctx, n)
	}
	return s.ID, err
}

// Restart restarts a session's program.
func (v source) Restart(ctx context.Context, id string) error {
	_, err := v.c.Session(id).Restore(ctx, api.Restore{Command: true})
	return err
}

func (v source) Rename(ctx context.Context, id, name string) error {
	_, err := v.c.Session(id).Edit(ctx, api.Edit{Name: &name})
	return err
}

// SizeBy sets a session's size policy.
func (v source) SizeBy(ctx context.Context, id, policy string) error {
	_, err := v.c.Session(id).Edit(ctx, api.Edit{Size: policy})
	return err
}

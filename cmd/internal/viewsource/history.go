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

// Tail is the screen with the newest rows of history before it, of one moment.
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

// Older are rows of history before a row.
func (v source) Older(ctx context.Context, id string, before, rows int) ([]render.Line, error) {
	s, err := v.c.Session(id).Screen(ctx, client.ScreenQuery{
		Scrollback: fmt.Sprintf("%d:%d", max(0, before-rows), before), Blocks: true, Pictures: true,
	})
	return s.Scrollback, err
}

// maxCommands bounds the commands that can be gone back to.
const maxCommands = 500

// Commands are the newest commands of the session's shell.
func (v source) Commands(ctx context.Context, id string) ([]page.Command, error) {
	list, err := v.c.Commands(ctx, client.CommandQuery{Session: id, Limit: maxCommands})
	out := make([]page.Command, 0, len(list))
	for i := range list {
		out = append(out, page.Command{N: list[i].N, Text: list[i].Text})
	}
	return out, err
}

// maxCopied bounds the output of a command that is copied, in bytes.
const maxCopied = 16 << 20

// Output is what a command printed, as plain text.
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
	rest, _, _ := plain.Rest(nil)
	b.Write(rest)
	return b.String(), nil
}

// maxName bounds a session's name, in bytes.
const maxName = 128

// pastLabel has the name of the session whose past one shows.
const pastLabel = "longterm.past"

// pastName is a name for the past of a session; empty: the daemon finds one.
func pastName(of string) string {
	if of += "-past"; len(of) <= maxName {
		return of
	}
	return ""
}

// Past starts a session that plays another one, from the end on and standing still. It ends with this viewer, also one that is
// killed: the session is the daemon's, so neither a signal nor an end of input tells it of that.
func (v source) Past(ctx context.Context, id string) (string, error) {
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
	n.Name, n.Argv, n.Temporary = pastName(of.Name), []string{self, "play", of.ID, "--from", "-1ms", "--paused", "--pid", strconv.Itoa(os.Getpid())}, true
	n.Labels = map[string]string{pastLabel: of.Name}
	s, err := v.c.NewSession(ctx, n)
	var problem *api.Error
	if errors.As(err, &problem) && problem.Code == api.CodeNameTaken { // it is looked at twice
		n.Name = ""
		s, err = v.c.NewSession(ctx, n)
	}
	return s.ID, err
}

func (v source) Restart(ctx context.Context, id string) error {
	_, err := v.c.Session(id).Restore(ctx, api.Restore{Command: true})
	return err
}

func (v source) Rename(ctx context.Context, id, name string) error {
	_, err := v.c.Session(id).Edit(ctx, api.Edit{Name: &name})
	return err
}

func (v source) SizeBy(ctx context.Context, id, policy string) error {
	_, err := v.c.Session(id).Edit(ctx, api.Edit{Size: policy})
	return err
}

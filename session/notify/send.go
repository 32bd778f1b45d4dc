package notify

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// Sender tells people. Its zero value has no terminals and the usual HTTP client.
type Sender struct {
	// Terminals writes to the terminals there are and says how many took it.
	Terminals func([]byte) int
	HTTP      *http.Client // of a webhook; nil: the usual one
	// Post takes what a webhook is to be told, and posts it some time (webhook.Queue); nil: it is posted once, now.
	Post func(webhook.Notice) error
	// Mask takes secrets out of what a webhook is told; nil: there are none.
	Mask func(string) string
}

// Send tells of a command's end in all ways that are asked for. It takes at most the
// Timeout.
func (s *Sender) Send(ctx context.Context, n *Options, f *Finished) error { return s.send(ctx, n, f) }

// SendAsked tells that a person is asked for something, likewise.
func (s *Sender) SendAsked(ctx context.Context, n *Options, a *Asked) error { return s.send(ctx, n, a) }

// SendWaiting tells that a program waits for a person, likewise, but rings no bell: what is on the screen shows it to
// who is there.
func (s *Sender) SendWaiting(ctx context.Context, n *Options, w *Waiting) error {
	quiet := *n
	quiet.Bell = false
	return s.send(ctx, &quiet, w)
}

// told is what there is to tell. As JSON it is what a webhook gets.
type told interface {
	Text() string      // in one line, without what would act on a terminal
	title() string     // of a notification
	environ() []string // for a command

	describe(n *webhook.Notice)           // event, title, text, key
	masked(mask func(string) string) told // a copy
	brief() any                           // whose it is and how it ended
}

func (s *Sender) send(ctx context.Context, n *Options, f told) error {
	timeout := n.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reached := 0
	if b := n.terminalBytes(f); len(b) > 0 && s.Terminals != nil {
		reached = s.Terminals(b)
	}
	var errs []error
	if n.Desktop && reached == 0 {
		errs = append(errs, notifySend(ctx, f))
	}
	if len(n.Command) > 0 {
		errs = append(errs, runCommand(ctx, n.Command, f))
	}
	if n.Webhook != "" {
		errs = append(errs, s.post(ctx, n, f))
	}
	return errors.Join(errs...)
}

// notifySend shows a notification on the desktop that this process belongs to, if any.
func notifySend(ctx context.Context, f told) error {
	path, err := exec.LookPath("notify-send")
	if err != nil || os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil // no desktop
	}
	if err := exec.CommandContext(ctx, path, "--", f.title(), f.Text()).Run(); err != nil {
		return fmt.Errorf("notify-send: %w", err)
	}
	return nil
}

func runCommand(ctx context.Context, argv []string, f told) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.WaitDelay = DefaultTimeout / 10 // a grandchild may hold the pipe
	c.Env = append(os.Environ(), append(f.environ(), "LONGTERM_TEXT="+f.Text())...)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("notify command %s: %w: %s", argv[0], err, webhook.OneLine(string(out), 200))
	}
	return nil
}

// post hands what there is to tell to the queue, or tries once where there is none.
func (s *Sender) post(ctx context.Context, n *Options, f told) error {
	if s.Mask != nil {
		f = f.masked(s.Mask)
	}
	notice := webhook.Notice{URL: n.Webhook, Format: n.Format}
	f.describe(&notice)
	what := any(f)
	if n.Brief {
		what, notice.Text = f.brief(), ""
	}
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if notice.Data = data; notice.Text == "" {
		notice.Text = notice.Title
	}
	if s.Post != nil {
		return s.Post(notice)
	}
	return webhook.Post(ctx, s.HTTP, &notice, rand.Text(), 0)
}

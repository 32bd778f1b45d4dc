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

// Sender delivers notifications. Its zero value has no terminals and uses the default HTTP client.
type Sender struct {
	// Terminals writes to the attached terminals and returns how many accepted the bytes.
	Terminals func([]byte) int
	HTTP      *http.Client // client for webhooks; nil: the default one
	// Post queues a notice for its webhook (webhook.Queue). If nil, the Sender posts it once, at once.
	Post func(webhook.Notice) error
	// Redact masks secrets in webhook notices; nil leaves notices unchanged.
	Redact func(string) string
}

// SendFinished notifies of the end of a command in every configured way. It takes at most Options.Timeout.
func (s *Sender) SendFinished(ctx context.Context, n *Options, f *FinishedEvent) error {
	return s.send(ctx, n, f)
}

// SendApproval notifies of an approval request.
func (s *Sender) SendApproval(ctx context.Context, n *Options, a *ApprovalEvent) error {
	return s.send(ctx, n, a)
}

// SendInput notifies that a program needs input. It rings no bell: the screen shows the prompt to attached users.
func (s *Sender) SendInput(ctx context.Context, n *Options, w *InputEvent) error {
	quiet := *n
	quiet.Bell = false
	return s.send(ctx, &quiet, w)
}

// notification is an event that Sender delivers. A webhook receives it as JSON.
type notification interface {
	// Text returns the event as one line, without control characters.
	Text() string
	// title returns a short title.
	title() string
	// environ returns the event as environment variables, for a command.
	environ() []string

	// fillNotice sets event, key, title, text and time of a notice.
	fillNotice(n *webhook.Notice)
	// redact returns a copy with mask applied to all texts.
	redact(mask func(string) string) notification
	// briefData returns the JSON data without command and output (Options.Brief).
	briefData() any
}

// send notifies of an event in every configured way. It returns the errors, joined.
func (s *Sender) send(ctx context.Context, n *Options, f notification) error {
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

// notifySend shows a notification on the desktop of this process, if there is one.
func notifySend(ctx context.Context, f notification) error {
	path, err := exec.LookPath("notify-send")
	if err != nil || os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil // no desktop
	}
	if err := exec.CommandContext(ctx, path, "--", f.title(), f.Text()).Run(); err != nil {
		return fmt.Errorf("notify-send: %w", err)
	}
	return nil
}

// runCommand runs a notification command with the event in its environment.
func runCommand(ctx context.Context, argv []string, f notification) error {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.WaitDelay = DefaultTimeout / 10 // a grandchild may hold the pipe
	c.Env = append(os.Environ(), append(f.environ(), "LONGTERM_TEXT="+f.Text())...)
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("notify command %s: %w: %s", argv[0], err, webhook.OneLine(string(out), 200))
	}
	return nil
}

// post queues the notice of an event, or posts it once if the Sender has no queue.
func (s *Sender) post(ctx context.Context, n *Options, f notification) error {
	if s.Redact != nil {
		f = f.redact(s.Redact)
	}
	notice := webhook.Notice{URL: n.Webhook, Format: n.Format}
	f.fillNotice(&notice)
	event := any(f)
	if n.Brief {
		event, notice.Text = f.briefData(), ""
	}
	data, err := json.Marshal(event)
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

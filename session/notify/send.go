package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
)

// Sender tells people. Its zero value has no terminals and the usual HTTP client.
type Sender struct {
	// Terminals writes to the terminals there are and says how many took it.
	Terminals func([]byte) int
	HTTP      *http.Client
}

// Send tells of a command's end in all ways that are asked for. It takes at most the
// Timeout.
func (s *Sender) Send(ctx context.Context, n *Options, f *Finished) error { return s.send(ctx, n, f) }

// SendAsked tells that a person is asked for something, likewise.
func (s *Sender) SendAsked(ctx context.Context, n *Options, a *Asked) error { return s.send(ctx, n, a) }

// told is what there is to tell. As JSON it is what a webhook gets.
type told interface {
	Text() string      // in one line, without what would act on a terminal
	title() string     // of a notification
	environ() []string // for a command
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
		errs = append(errs, s.post(ctx, n.Webhook, f))
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
		return fmt.Errorf("notify command %s: %w: %s", argv[0], err, oneLine(string(out), 200))
	}
	return nil
}

func (s *Sender) post(ctx context.Context, url string, f told) error {
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := s.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode >= 300 {
		return fmt.Errorf("webhook: %s answered %s", req.URL.Host, resp.Status)
	}
	return nil
}

package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/notify/webhook"
)

// Options configure when and how users are notified of finished commands (R82). The zero value disables notifications.
// Options are plain data, so that a configuration can embed them.
type Options struct {
	// After excludes commands that ran for less time.
	After time.Duration
	// Attended also notifies while clients are attached to the session or watch it. Commands that ran for Always or
	// longer notify in any case; 0 disables that.
	Attended bool
	Always   time.Duration
	// Failed excludes commands that ended with status 0.
	Failed bool

	Bell    bool // ring the terminals of attached clients
	Desktop bool // by the terminals of attached clients (OSC 9), else by notify-send
	// Command is run with the event in its environment (LONGTERM_NAME, …_COMMAND, …_CWD, …_EXIT, …_SIGNAL,
	// …_DURATION_MS, …_ERRORS, …_WARNINGS, …_TEXT). Empty: none.
	Command []string
	// Webhook is the URL that receives the event in the given Format. Empty: none.
	Webhook string
	Format  webhook.Format
	// Brief limits a webhook to the session and the kind of event, without command or output.
	Brief bool
	// Timeout bounds a notification; 0: DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout bounds a notification by command and webhook.
const DefaultTimeout = 10 * time.Second

// FinishedEvent reports that a command has finished.
type FinishedEvent struct {
	Session    string    `json:"session"` // id
	Name       string    `json:"name"`
	Command    string    `json:"command"`
	Number     int       `json:"n,omitempty"` // of the command in its session; 0: the session's program
	Cwd        string    `json:"cwd"`
	ExitCode   *int      `json:"exit_code"`
	Signal     string    `json:"signal,omitempty"`
	Ended      time.Time `json:"ended"`
	DurationMS int64     `json:"duration_ms"`
	Errors     int       `json:"errors"`
	Warnings   int       `json:"warnings"`
	FirstError string    `json:"first_error,omitempty"`
	Attended   bool      `json:"attended"` // clients were attached to the session or watched it
}

// IsEnabled reports whether any way to notify is set.
func (n *Options) IsEnabled() bool {
	return n.Bell || n.Desktop || len(n.Command) > 0 || n.Webhook != ""
}

// ShouldNotify reports whether the end of a command is notified.
func (n *Options) ShouldNotify(f *FinishedEvent) bool {
	took := time.Duration(f.DurationMS) * time.Millisecond
	switch {
	case !n.IsEnabled(), took < n.After, n.Failed && f.hasSucceeded():
		return false
	case f.Attended && !n.Attended:
		return n.Always > 0 && took >= n.Always
	}
	return true
}

// hasSucceeded reports whether the command ended with status 0.
func (f *FinishedEvent) hasSucceeded() bool { return f.ExitCode != nil && *f.ExitCode == 0 }

// Text returns the event as one line.
func (f *FinishedEvent) Text() string {
	var b strings.Builder
	switch {
	case f.hasSucceeded():
		b.WriteString("✓ ")
	case f.ExitCode != nil:
		fmt.Fprintf(&b, "✗ %d: ", *f.ExitCode)
	case f.Signal != "":
		fmt.Fprintf(&b, "✗ %s: ", f.Signal)
	default:
		b.WriteString("ended: ")
	}
	fmt.Fprintf(&b, "%s (%s)", webhook.OneLine(f.Command, 80), (time.Duration(f.DurationMS) * time.Millisecond).Round(100*time.Millisecond))
	if f.Errors > 0 {
		fmt.Fprintf(&b, ", %d errors", f.Errors)
	}
	return b.String()
}

// TerminalBytes returns the bytes for an attached terminal: bell and OSC 9.
func (n *Options) TerminalBytes(f *FinishedEvent) []byte { return n.terminalBytes(f) }

// terminalBytes returns TerminalBytes for any event.
func (n *Options) terminalBytes(f notification) []byte {
	var b []byte
	if n.Desktop {
		b = append(b, "\x1b]9;"+webhook.OneLine(f.Text(), 200)+"\x1b\\"...)
	}
	if n.Bell {
		b = append(b, '\a')
	}
	return b
}

// Parse parses the values of a flag: bell, desktop, failed, command=LINE (run by sh -c) and webhook=URL.
func Parse(ways []string, after time.Duration) (Options, error) {
	n := Options{After: after, Attended: true}
	for _, way := range ways {
		name, value, given := strings.Cut(way, "=")
		switch {
		case way == "bell":
			n.Bell = true
		case way == "desktop":
			n.Desktop = true
		case way == "failed":
			n.Failed = true
		case name == "command" && value != "":
			n.Command = []string{"sh", "-c", value}
		case name == "webhook" && given:
			if err := webhook.CheckURL(value); err != nil {
				return n, fmt.Errorf("webhook %q is %w", value, err)
			}
			n.Webhook = value
		default:
			return n, fmt.Errorf("unknown way to notify %q; there are bell, desktop, failed, command=LINE and webhook=URL", way)
		}
	}
	return n, nil
}

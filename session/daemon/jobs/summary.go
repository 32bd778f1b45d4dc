//go:build unix

package jobs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/respond/shellcmd"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Bounds of summaries, in bytes.
const (
	maxSummarized     = 10 << 20 // text that the program reads: more is truncated to head and tail
	maxSummary        = 8 << 10  // text that it may print
	summarizedExcerpt = 2 << 10  // output in a result with a summary
)

// minSummaryTime is the time of a summary program of a job whose timeout has expired.
const minSummaryTime = 100 * time.Millisecond

// summarize adds a summary to the truncated result of an ended job of an agent, by the program of the configuration. A
// failure of the program changes nothing except SummaryError.
func (j *Job) summarize(ctx context.Context, r *api.Result) {
	conf := j.s.conf.Get().Output
	if len(conf.SummaryCommand) == 0 || !r.Truncated || !j.approval.request.Actor.IsAgent() {
		return
	}
	if how := j.endingReason(); how == endsByRequest || how == endsByCaller {
		r.SummaryError = "no summary: " + errStopped.Error()
		return
	}
	ctx, stop := j.untilStopped(ctx)
	defer stop()
	known := j.e.Session.KnownSecrets()
	s := summarizer{
		argv: conf.SummaryCommand, timeout: j.summaryTimeout(conf.SummaryTimeout), redact: known.RedactText,
		env: []string{"LONGTERM_SESSION=" + r.Session, "LONGTERM_JOB=" + r.Job, "LONGTERM_COMMAND=" + known.RedactText(j.line)},
	}
	text, err := excerpt.Plain(ctx, j.e.Session, r.Range.Start, r.Range.End, excerpt.Limits{Bytes: maxSummarized, Hide: true})
	if err == nil {
		r.Summary, err = s.run(identity.WithActor(ctx, j.approval.request.Actor), text.Text)
	}
	if err != nil {
		r.SummaryError = "no summary: output.summary_command: " + err.Error()
		return
	}
	j.fillPrinted(ctx, r, r.Range, min(summarizedExcerpt, j.limits(0).Bytes))
}

// errStopped is the reason of a stopped job to have no summary.
var errStopped = errors.New("stopped")

// untilStopped returns a context that ends with errStopped when a client requests the job's end. Only runTimeouts may call it:
// the context takes the request.
func (j *Job) untilStopped(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-j.stops:
			cancel(errStopped)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// summaryTimeout returns the time of a summary program: limit, but not more than remains of the job's timeout.
func (j *Job) summaryTimeout(limit time.Duration) time.Duration {
	wall, _ := j.timeRemaining()
	return max(minSummaryTime, min(limit, wall.Round(time.Millisecond)))
}

// summarizer runs a program that summarizes text.
type summarizer struct {
	argv, env []string // env is added to the daemon's
	timeout   time.Duration
	redact    func(string) string
}

// run returns the program's summary of a text, redacted and without control characters.
func (s *summarizer) run(ctx context.Context, text string) (string, error) {
	c := shellcmd.Command{
		Line: `exec "$@"`, Args: s.argv, Env: append(os.Environ(), s.env...), Dir: "/", Stdin: strings.NewReader(text),
		Max: maxSummary, Timeout: s.timeout, KillLeftover: true,
	}
	out, err := c.Run(ctx)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.argv[0], err)
	}
	var plain plaintext.Writer
	var printed []byte
	plain.Each(out, func(l plaintext.Line) {
		if printed = append(printed, l.Text...); !l.More {
			printed = append(printed, '\n')
		}
	})
	printed, _, _ = plain.AppendUnfinished(printed)
	summary := strings.TrimSpace(s.redact(string(printed)))
	if summary == "" {
		return "", fmt.Errorf("%s: it printed nothing", s.argv[0])
	}
	return summary, nil
}

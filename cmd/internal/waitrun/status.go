//go:build unix

package waitrun

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

// Status returns the exit status for a result as an error: the command's own, or longterm's if it has none. wall and
// idle are the timeouts; session is the caller's name of the session, or "".
func Status(r *api.Result, session string, wall, idle time.Duration) error {
	session = cmp.Or(session, api.ShortID(r.Session))
	what := "still running in the session"
	switch {
	case r.State == "waiting" && r.TimedOut != "none":
		what = "not started: the shell reported no prompt"
		if _, why, ok := strings.Cut(r.Message, ", which "); ok { // waits for an approval
			what = "not started: the shell runs another command, which " + why
		}
	case !output.IsUnfinished(r.State):
		what = "ended"
	case r.State == "needs_input":
		what += fmt.Sprintf(", waiting for input (%s); %s", r.Needs, answerHint(r.Needs, session))
	case r.TimedOut != "none":
		what += fmt.Sprintf("; see `longterm jobs wait %s`", api.ShortID(r.Job))
	}
	switch {
	case r.Error != "" && len(r.Answers) > 0 && r.Answers[len(r.Answers)-1].Error != "":
		return exit.With(api.ExitOwnFailure, fmt.Errorf("ended by a response rule: %s", r.Error))
	case r.TimedOut == "wall":
		return exit.With(api.ExitTimeout, fmt.Errorf("timeout after %s (--timeout)%s; %s", wall, describeUnused(r), what))
	case r.TimedOut == "idle":
		return exit.With(api.ExitTimeout, fmt.Errorf("timeout: no output for %s (--idle-timeout)%s; %s", idle, describeUnused(r), what))
	case r.State == "needs_input":
		return exit.With(api.RefusedNeedsInput, fmt.Errorf("waiting for input (%s); %s", r.Needs, answerHint(r.Needs, session)))
	case r.State == "denied":
		return exit.With(exit.DeniedStatus(r), exit.NotAllowed(r))
	case r.State == "needs_approval":
		return exit.With(api.RefusedNeedsApproval, fmt.Errorf("approval required (%s): allow it with `longterm approvals answer %[1]s once`", r.Approval))
	case output.IsUnfinished(r.State):
		return exit.With(api.ExitTimeout, fmt.Errorf("%s; see `longterm jobs wait %s`", what, api.ShortID(r.Job)))
	}
	return EndStatus(r)
}

// answerHint returns the command that answers a program's prompt: `keys` for menus and full-screen programs, else
// `send`.
func answerHint(needs, session string) string {
	if needs == "menu" || needs == "screen" {
		return fmt.Sprintf("see `longterm screen %s`, answer with `longterm keys %[1]s KEY…`", session)
	}
	return fmt.Sprintf("answer with `longterm send %s TEXT -e`", session)
}

// describeUnused returns the last prompt in the output and the rules that matched nothing, for a timeout's message. It
// returns "" if all rules matched, or none were given.
func describeUnused(r *api.Result) string {
	if len(r.Unused) == 0 {
		return ""
	}
	text := ""
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(r.Output, "^C", ""), " \r\n"), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		text = fmt.Sprintf(": the output ends with %q", output.Printable(last))
	}
	return fmt.Sprintf("%s; no match for --respond %s", text, quoteAll(r.Unused))
}

// quoteAll quotes texts and joins them.
func quoteAll(texts []string) string {
	list := make([]string, 0, len(texts))
	for _, t := range texts {
		list = append(list, strconv.Quote(t))
	}
	return strings.Join(list, ", ")
}

// EndStatus returns the exit status of an ended command as an error.
func EndStatus(r *api.Result) error {
	switch {
	case r.State == "denied":
		return exit.With(exit.DeniedStatus(r), exit.NotAllowed(r))
	case r.State == "refused":
		return exit.With(api.RefusedInvalid, errors.New(r.Message))
	case r.ExitCode != nil && *r.ExitCode == 0:
		return nil
	case r.ExitCode != nil:
		return exit.Silent(*r.ExitCode)
	case r.Signal != "":
		return exit.Silent(128 + int(unix.SignalNum(r.Signal)))
	case r.Error != "":
		return exit.With(api.ExitOwnFailure, errors.New(r.Error))
	case r.IsSuccess(): // a REPL has no status, and a script continues (see NoteNoStatus)
		return nil
	case r.ExitUnknown == api.ExitNotReported:
		return exit.With(api.ExitOwnFailure, errors.New("exit status unknown: the program that read the line reports none to longterm; check the output"))
	}
	if r.State == "killed" && r.Message != "" {
		return exit.With(api.ExitOwnFailure, errors.New(r.Message))
	}
	return exit.With(api.ExitOwnFailure, errors.New("exit status unknown"))
}

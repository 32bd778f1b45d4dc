//go:build unix

package foreground

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

// Status is the exit status of what was run: its own, or ours where it has none. wall and idle are the timeouts
// it was given; session is how the caller named the session, if they did.
func Status(r *api.Result, session string, wall, idle time.Duration) error {
	session = cmp.Or(session, api.ShortID(r.Session))
	what := "it continues in the session"
	switch {
	case r.State == "waiting" && r.TimedOut != "none":
		what = "it was not started: the shell reported no prompt"
		if _, why, ok := strings.Cut(r.Message, ", which "); ok { // waits for an approval
			what = "it was not started: the shell is running something else, which " + why
		}
	case !output.IsOpen(r.State):
		what = "it was ended"
	case r.State == "needs_input":
		what += fmt.Sprintf(" and waits for input (%s); %s", r.Needs, answerHint(r.Needs, session))
	case r.TimedOut != "none":
		what += fmt.Sprintf("; `longterm jobs wait %s` waits for its end", api.ShortID(r.Job))
	}
	switch {
	case r.Error != "" && len(r.Answers) > 0 && r.Answers[len(r.Answers)-1].Error != "":
		return exit.With(api.ExitOwnFailure, fmt.Errorf("a rule ended it: %s", r.Error))
	case r.TimedOut == "wall":
		return exit.With(api.ExitTimeout, fmt.Errorf("no end within %s (--timeout)%s; %s", wall, describeUnused(r), what))
	case r.TimedOut == "idle":
		return exit.With(api.ExitTimeout, fmt.Errorf("nothing was printed for %s (--idle-timeout)%s; %s", idle, describeUnused(r), what))
	case r.State == "needs_input":
		return exit.With(api.RefusedNeedsInput, fmt.Errorf("it waits for input (%s); %s", r.Needs, answerHint(r.Needs, session)))
	case r.State == "denied":
		return exit.With(exit.OfDenied(r), exit.NotAllowed(r))
	case r.State == "needs_approval":
		return exit.With(api.RefusedNeedsApproval, fmt.Errorf("it waits for approval %s; `longterm approvals answer %[1]s once` allows it", r.Approval))
	case output.IsOpen(r.State):
		return exit.With(api.ExitTimeout, fmt.Errorf("%s; `longterm jobs wait %s` waits for its end", what, api.ShortID(r.Job)))
	}
	return EndStatus(r)
}

// answerHint returns how to answer what a program waits for: one with menus or a whole screen takes keys.
func answerHint(needs, session string) string {
	if needs == "menu" || needs == "screen" {
		return fmt.Sprintf("see `longterm screen %s`, answer with `longterm keys %[1]s KEY…`", session)
	}
	return fmt.Sprintf("answer with `longterm send %s TEXT -e`", session)
}

// describeUnused returns the question at the end of the output and the rules that matched nothing, for the message of a
// timeout. It returns "" if all rules matched, or no rules were given.
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

// EndStatus is the exit status of what has ended.
func EndStatus(r *api.Result) error {
	switch {
	case r.State == "denied":
		return exit.With(exit.OfDenied(r), exit.NotAllowed(r))
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
	case r.IsSuccess(): // a REPL has no status, and a script continues (see TellNoStatus)
		return nil
	case r.ExitUnknown == api.ExitNotReported:
		return exit.With(api.ExitOwnFailure, errors.New("exit status unknown: the program that read the line reports none to longterm; check the output"))
	}
	if r.State == "killed" && r.Message != "" {
		return exit.With(api.ExitOwnFailure, errors.New(r.Message))
	}
	return exit.With(api.ExitOwnFailure, errors.New("its exit status is not known"))
}

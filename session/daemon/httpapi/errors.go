//go:build unix

package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
)

// sentinel maps an error of another package to an API error. An empty hint means that of the code.
type sentinel struct {
	err  error
	code api.Code
	hint string
}

// sentinels are tried in order. HTTP and exit statuses of the codes are in session/api/errors.go.
var sentinels = []sentinel{
	{session.ErrEcho, api.CodeEcho, "secrets are typed only while the echo is off; use --force if that is intended"},
	{session.ErrMayEcho, api.CodeEcho, "check the screen first; use --force if the program hides its input"},
	{session.ErrUnreadInput, api.CodeEcho, "secrets are typed only when the program reads; wait until it has read the earlier input, then retry"},
	{session.ErrNoRule, api.CodeNotFound, "`longterm respond S ls` lists them"},
	{session.ErrRuleExists, api.CodeNameTaken, "choose another name, or remove it with `longterm respond S rm`"},
	{session.ErrUserTyping, api.CodeBusy, "wait until it is finished, or use --force"},
	{session.ErrPartialLine, api.CodeBusy, "end it, or clear it with C-u first"},
	{session.ErrLongLine, api.CodeInvalid, "send shorter lines, or put the text into a file that the program reads"},
	{session.ErrIDReused, api.CodeIDTaken, "use a different id for each input, or none"},
	{session.ErrStale, api.CodeStale, "look at the screen again"},
	{session.ErrBusy, api.CodeBusy, "wait for it (--wait), interrupt it, or use another session"},
	{session.ErrNoShell, api.CodeNoShell, "use `longterm send` and `longterm wait`, or a session of bash, zsh, fish, ksh or sh"},
	{session.ErrIncomplete, api.CodeInvalid, "close its quotes and blocks; the shell was given Ctrl-C"},
	{session.ErrRefused, api.CodeInvalid, "see the shell's message in the output; Ctrl-C was sent"},
	{session.ErrLine, api.CodeInvalid, ""},
	{session.ErrQuarantined, api.CodeInternal, "`longterm output` shows what it printed; the next daemon (`longterm daemon restart`) tries again"},
	{session.ErrEnded, api.CodeEnded, "its screen and output can still be read"},
	{session.ErrRingFull, api.CodeLimit, "wait until the session has read its input"},
	{session.ErrOverloaded, api.CodeLimit, "wait until the program reads, or interrupt it"},
	{session.ErrFuture, api.CodeInvalid, ""},
	{session.ErrPruned, api.CodeInvalid, ""},
	{session.ErrNoTranscript, api.CodeInvalid, "leave the transcript out"},
	{session.ErrStopped, api.CodeUnavailable, "try again"},
	{context.DeadlineExceeded, api.CodeTimeout, ""},
	{context.Canceled, api.CodeTimeout, ""},
}

// hintRestore adds to the error for an ended session, whose path is in the request in, how to start its program again.
func (s *Server) hintRestore(in any, err error) error {
	path, ok := in.(interface{ sessionRef() string })
	var e *api.Error
	if !ok || !errors.As(toAPI(err), &e) || e.Code != api.CodeEnded || strings.Contains(e.Hint, "longterm restore") {
		return err
	}
	h, findErr := s.reg.Resolve(path.sessionRef())
	if findErr != nil || h.Session.Status().State == session.Running {
		return err
	}
	hinted := *e
	hinted.Hint = fmt.Sprintf("`longterm restore %s` starts it again; its screen and output can still be read", h.Record().Name)
	return &hinted
}

// toAPI converts an error of another package; one without a row is internal.
func toAPI(err error) error {
	var e *api.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			e := api.Errorf(s.code, "%v", err)
			e.Hint = s.hint
			return e
		}
	}
	return api.Errorf(api.CodeInternal, "%v", err)
}

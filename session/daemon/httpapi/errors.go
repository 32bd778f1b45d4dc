//go:build unix

package httpapi

import (
	"context"
	"errors"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
)

// sentinel is a row of the table of errors of the layers below: what each is to clients. The hint
// is for the code's own where that would say too little; empty: the message says it all.
type sentinel struct {
	err  error
	code api.Code
	hint string
}

// sentinels say which code an error has, in the order in which an error that is several is judged. A
// code's HTTP status and exit status are in session/api/errors.go.
var sentinels = []sentinel{
	{session.ErrEcho, api.CodeEcho, "a secret is typed when the program has turned the echo off; force it if that is meant"},
	{session.ErrMayEcho, api.CodeEcho, "check the screen first; force it if the program hides what is typed"},
	{session.ErrTypedAhead, api.CodeEcho, "a secret is typed when the program reads it: wait until it has read the rest, then ask again"},
	{session.ErrNoRule, api.CodeNotFound, "`longterm respond S ls` lists them"},
	{session.ErrRuleName, api.CodeNameTaken, "choose another name, or remove that one with `longterm respond S rm`"},
	{session.ErrBegun, api.CodeBusy, "wait until it is ended, or type all the same with --force"},
	{session.ErrHalf, api.CodeBusy, "end it, or clear it with C-u first"},
	{session.ErrLongLine, api.CodeInvalid, "send shorter lines, or put the text into a file that the program reads"},
	{session.ErrOtherInput, api.CodeIDTaken, "give each input an id of its own, or none"},
	{session.ErrStale, api.CodeStale, "look at the screen again"},
	{session.ErrBusy, api.CodeBusy, "wait for it (--wait), interrupt it, or use another session"},
	{session.ErrNoShell, api.CodeNoShell, "use `longterm send` and `longterm wait`, or a session of bash, zsh, fish, ksh or sh"},
	{session.ErrIncomplete, api.CodeInvalid, "close its quotes and blocks; the shell was given Ctrl-C"},
	{session.ErrRefused, api.CodeInvalid, "what the shell said is in its output; it was given Ctrl-C"},
	{session.ErrLine, api.CodeInvalid, ""},
	{session.ErrQuarantined, api.CodeInternal, "`longterm output` shows what it printed; the next daemon (`longterm daemon restart`) tries again"},
	{session.ErrEnded, api.CodeEnded, "its screen and output can still be read"},
	{session.ErrNoRoom, api.CodeLimit, "wait until the session has taken what it was given"},
	{session.ErrOverloaded, api.CodeLimit, "wait until the program reads, or interrupt it"},
	{session.ErrFuture, api.CodeInvalid, ""},
	{session.ErrForgotten, api.CodeInvalid, ""},
	{session.ErrNoTranscript, api.CodeInvalid, "leave the transcript out"},
	{session.ErrStopped, api.CodeUnavailable, "try again"},
	{context.DeadlineExceeded, api.CodeTimeout, ""},
	{context.Canceled, api.CodeTimeout, ""},
}

// toAPI gives errors of the layers below their code; what is in no row is a fault.
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

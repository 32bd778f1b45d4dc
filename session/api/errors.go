package api

import (
	"fmt"
	"net/http"
)

// Code names a kind of error, the same in every interface.
type Code string

// Codes.
const (
	CodeInvalid       Code = "invalid"
	CodeNotFound      Code = "not_found"
	CodeAmbiguous     Code = "ambiguous"
	CodeUnauthorized  Code = "unauthorized"
	CodeNameTaken     Code = "name_taken"
	CodeIDTaken       Code = "id_taken"
	CodeEnded         Code = "ended"
	CodeRunning       Code = "running"
	CodeStale         Code = "stale"
	CodeConflict      Code = "conflict"
	CodeBusy          Code = "busy"
	CodeNeedsInput    Code = "needs_input"
	CodeEcho          Code = "echo"
	CodeNoShell       Code = "no_shell"
	CodeDenied        Code = "denied"
	CodeRejected      Code = "rejected"
	CodeNeedsApproval Code = "needs_approval"
	CodeAnswered      Code = "answered"
	CodeSpawn         Code = "spawn"
	CodeNoProgram     Code = "no_program"
	CodeLimit         Code = "limit"
	CodeTimeout       Code = "timeout"
	CodeCanceled      Code = "canceled"
	CodeUnavailable   Code = "unavailable"
	CodeNoSSH         Code = "no_ssh"
	CodeHostUnknown   Code = "host_unknown"
	CodeHostRefused   Code = "host_refused"
	CodeHostVersion   Code = "host_version"
	CodeHostBare      Code = "host_bare"
	CodeNoFleet       Code = "no_fleet"
	CodeStorage       Code = "storage"
	CodeInternal      Code = "internal"
)

// CodeRow is a row of the table of errors: a code's HTTP status, exit status and hint. The daemon maps errors of lower
// layers to codes: its table is in session/daemon, and its test compares both tables.
type CodeRow struct {
	Code        Code
	HTTP        int
	Exit        int    // status of the command line
	RefusedExit int    // exit status of run and exec if the command was not run
	Text        string // description
	Hint        string // default next step
}

// Exit statuses of the command line that are not a command's own.
const (
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitUnavailable = 5
	ExitTimeout     = 124 // as timeout(1)
	ExitOwnFailure  = 125 // longterm itself failed in place of a command's status, or the status is unknown
	ExitCannotRun   = 126
	ExitNoProgram   = 127
	ExitInterrupted = 130 // 128 and SIGINT
)

// Exit statuses of run and exec when nothing was run, by reason: programs seldom use them.
const (
	RefusedNeedsApproval = 111
	RefusedInvalid       = 112
	RefusedNotFound      = 113
	RefusedConflict      = 114
	RefusedEnded         = 115
	RefusedBusy          = 116
	RefusedNoShell       = 117
	RefusedNeedsInput    = 118 // exit status: rejected because a program waits for input; also if the line runs and --on-input return was given
	RefusedDenied        = 119
	RefusedLimit         = 120
	RefusedStorage       = 121
	RefusedUnavailable   = 122
	RefusedRejected      = 123
)

// codeRows is the only table of errors: API, command line and docs/errors.md use it. The last row is that of errors
// without a code.
var codeRows = []CodeRow{
	{CodeInvalid, http.StatusUnprocessableEntity, ExitUsage, RefusedInvalid, "a value was not acceptable", "see `longterm --help`, or GET /v1/openapi.json"},
	{CodeNotFound, http.StatusNotFound, ExitNotFound, RefusedNotFound, "no such session", "`longterm ls` lists them"},
	{CodeAmbiguous, http.StatusConflict, ExitConflict, RefusedConflict, "several sessions match", "give more of the id or name"},
	{CodeNameTaken, http.StatusConflict, ExitConflict, RefusedConflict, "another session has this name", "choose another name"},
	{CodeIDTaken, http.StatusConflict, ExitConflict, RefusedConflict, "the id is that of another call", "give each call a unique id, or none"},
	{CodeEnded, http.StatusConflict, ExitConflict, RefusedEnded, "the session has ended", "its screen and output can still be read"},
	{CodeRunning, http.StatusConflict, ExitConflict, RefusedConflict, "the session is running", "wait for its end, or end it first"},
	{CodeStale, http.StatusPreconditionFailed, ExitConflict, RefusedConflict, "the screen has changed", "look at the screen again"},
	{CodeConflict, http.StatusConflict, ExitConflict, RefusedConflict, "changes of a draft are in the way", "see `longterm changes`"},
	{CodeBusy, http.StatusConflict, ExitConflict, RefusedBusy, "the shell runs something else", "wait for it (--wait), interrupt it, or use another session"},
	{CodeNeedsInput, http.StatusConflict, ExitConflict, RefusedNeedsInput, "the program in the foreground waits for input", "answer it with `longterm send`"},
	{CodeEcho, http.StatusConflict, ExitConflict, RefusedConflict, "the terminal echoes, and the input is secret", "type it when the echo is off"},
	{CodeNoShell, http.StatusConflict, ExitConflict, RefusedNoShell, "the session's program is no shell whose commands can be followed", "use `longterm send` and `longterm wait`"},
	{CodeDenied, http.StatusForbidden, ExitConflict, RefusedDenied, "denied by policy", "ask the owner of the policy"},
	{CodeRejected, http.StatusForbidden, ExitConflict, RefusedRejected, "rejected by the user", "do something else, or ask the user"},
	{CodeUnauthorized, http.StatusUnauthorized, ExitConflict, RefusedDenied, "no token was shown, or one that does not count", "`longterm token new` makes one; show it as Authorization: Bearer TOKEN"},
	{CodeNeedsApproval, http.StatusConflict, ExitConflict, RefusedNeedsApproval, "approval required", "see `longterm approvals`"},
	{CodeAnswered, http.StatusConflict, ExitConflict, RefusedConflict, "the approval was already answered", "see `longterm approvals show`"},
	{CodeSpawn, http.StatusUnprocessableEntity, ExitCannotRun, ExitCannotRun, "the program could not be started", "see whether it can be executed"},
	{CodeNoProgram, http.StatusUnprocessableEntity, ExitNoProgram, ExitNoProgram, "program not found", "check PATH and the spelling"},
	{CodeLimit, http.StatusTooManyRequests, ExitFailure, RefusedLimit, "a limit was reached", "wait, or end something"},
	{CodeTimeout, http.StatusRequestTimeout, ExitTimeout, ExitTimeout, "timeout", "allow more time, or run it in the background"},
	{CodeCanceled, statusClientClosed, ExitInterrupted, ExitInterrupted, "it was interrupted", "look whether it was done before you repeat it"},
	{CodeUnavailable, http.StatusServiceUnavailable, ExitUnavailable, RefusedUnavailable, "the daemon cannot be reached", "run `longterm doctor`"},
	{CodeNoSSH, http.StatusServiceUnavailable, ExitUnavailable, RefusedUnavailable, "ssh not found", "install the OpenSSH client, or set hosts.ssh"},
	{CodeHostUnknown, http.StatusServiceUnavailable, ExitUnavailable, RefusedUnavailable, "host not found", "check the spelling, and ~/.ssh/config"},
	{CodeHostRefused, http.StatusServiceUnavailable, ExitUnavailable, RefusedUnavailable, "the host does not let you in, or is not the one that was known", "see whether `ssh HOST` works by itself"},
	{CodeHostVersion, http.StatusServiceUnavailable, ExitUnavailable, RefusedUnavailable, "the host has a longterm of another version, which cannot be spoken with", "`longterm hosts install HOST` copies this one there"},
	{CodeHostBare, http.StatusServiceUnavailable, ExitUnavailable, RefusedUnavailable, "the host has no longterm", "`longterm hosts install HOST` copies this one there"},
	{CodeNoFleet, http.StatusConflict, ExitConflict, RefusedConflict, "this machine belongs to no fleet, or its part in one is not in order", "see `longterm fleet status`"},
	{CodeStorage, http.StatusInsufficientStorage, ExitFailure, RefusedStorage, "the state directory cannot be written", "run `longterm doctor`"},
	{CodeInternal, http.StatusInternalServerError, ExitFailure, ExitOwnFailure, "a fault in longterm", "see the daemon's log, and report it"},
}

// statusClientClosed is the status for a client that closed its request, as other servers use it.
const statusClientClosed = 499

// row returns the row of a code; an unknown code is an internal error.
func (c Code) row() *CodeRow { return rowWhere(func(r *CodeRow) bool { return r.Code == c }) }

// rowWhere returns the first matching row, else that of internal errors.
func rowWhere(fits func(*CodeRow) bool) *CodeRow {
	for i := range codeRows {
		if fits(&codeRows[i]) {
			return &codeRows[i]
		}
	}
	return &codeRows[len(codeRows)-1]
}

// Hint returns the usual next step for an error of this kind.
func (c Code) Hint() string { return c.row().Hint }

// CodeOfExit returns the error code behind an exit status of run and exec, or that of internal errors.
func CodeOfExit(status int) Code {
	return rowWhere(func(r *CodeRow) bool { return r.RefusedExit == status }).Code
}

// CodeOfHTTP returns the code of a request that was rejected with an HTTP status before a handler ran.
func CodeOfHTTP(status int) Code {
	switch {
	case status == http.StatusNotFound:
		return CodeNotFound
	case status >= http.StatusInternalServerError:
		return CodeInternal
	}
	return CodeInvalid
}

// Error is an error of the API. It implements huma.StatusError.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Hint is the next step for the caller.
	Hint string `json:"hint,omitempty"`
	// Retry states that the same request may be retried soon: nothing was done, or its job continues.
	Retry bool `json:"retry,omitempty"`
	// Policy is the verdict behind a denied, rejected or pending request.
	Policy   *Judgement `json:"policy,omitempty"`
	Approval string     `json:"approval,omitempty"`
}

// Retryable marks the error as retryable.
func (e *Error) Retryable() *Error {
	e.Retry = true
	return e
}

// Errorf returns an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint sets the hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error implements error.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// GetStatus returns the HTTP status.
func (e *Error) GetStatus() int { return e.Code.row().HTTP }

// ExitStatus returns the command line's exit status.
func (e *Error) ExitStatus() int { return e.Code.row().Exit }

// RefusedStatus returns the exit status of run and exec, which otherwise exit with their command's status.
func (e *Error) RefusedStatus() int { return e.Code.row().RefusedExit }

// Codes iterates over the table of errors.
func Codes(yield func(CodeRow) bool) {
	for _, r := range codeRows {
		if !yield(r) {
			return
		}
	}
}

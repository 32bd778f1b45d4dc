package api

import (
	"fmt"
	"net/http"
)

// Code names a kind of error, the same in every interface.
type Code string

// Codes.
const (
	CodeInvalid     Code = "invalid"
	CodeNotFound    Code = "not_found"
	CodeAmbiguous   Code = "ambiguous"
	CodeNameTaken   Code = "name_taken"
	CodeEnded       Code = "ended"
	CodeRunning     Code = "running"
	CodeStale       Code = "stale"
	CodeBusy        Code = "busy"
	CodeEcho        Code = "echo"
	CodeNoShell     Code = "no_shell"
	CodeSpawn       Code = "spawn"
	CodeNoProgram   Code = "no_program"
	CodeLimit       Code = "limit"
	CodeTimeout     Code = "timeout"
	CodeUnavailable Code = "unavailable"
	CodeStorage     Code = "storage"
	CodeInternal    Code = "internal"
)

// codeRow is where a code's counterparts stand.
type codeRow struct {
	status int // HTTP
	exit   int // of the command line
	text   string
}

// Exit statuses of the command line that are not a command's own.
const (
	ExitFailure     = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitConflict    = 4
	ExitUnavailable = 5
	ExitTimeout     = 124 // as timeout(1)
	ExitOwnFailure  = 125 // longterm itself failed where a command's status was to be
	ExitCannotRun   = 126
	ExitNoProgram   = 127
)

var codes = map[Code]codeRow{
	CodeInvalid:     {http.StatusUnprocessableEntity, ExitUsage, "a value was not acceptable"},
	CodeNotFound:    {http.StatusNotFound, ExitNotFound, "no such session"},
	CodeAmbiguous:   {http.StatusConflict, ExitConflict, "several sessions match"},
	CodeNameTaken:   {http.StatusConflict, ExitConflict, "another session has this name"},
	CodeEnded:       {http.StatusConflict, ExitConflict, "the session has ended"},
	CodeRunning:     {http.StatusConflict, ExitConflict, "the session is running"},
	CodeStale:       {http.StatusPreconditionFailed, ExitConflict, "the screen has changed"},
	CodeBusy:        {http.StatusConflict, ExitConflict, "the shell runs something else"},
	CodeEcho:        {http.StatusConflict, ExitConflict, "the terminal shows what is typed, and a secret was to be typed"},
	CodeNoShell:     {http.StatusConflict, ExitConflict, "the session's program is no shell whose commands can be followed"},
	CodeSpawn:       {http.StatusUnprocessableEntity, ExitCannotRun, "the program could not be started"},
	CodeNoProgram:   {http.StatusUnprocessableEntity, ExitNoProgram, "there is no such program"},
	CodeLimit:       {http.StatusTooManyRequests, ExitFailure, "a limit was reached"},
	CodeTimeout:     {http.StatusRequestTimeout, ExitTimeout, "time ran out"},
	CodeUnavailable: {http.StatusServiceUnavailable, ExitUnavailable, "the daemon cannot be reached"},
	CodeStorage:     {http.StatusInsufficientStorage, ExitFailure, "the state directory cannot be written"},
	CodeInternal:    {http.StatusInternalServerError, ExitFailure, "a fault in longterm"},
}

// Error is an error as it crosses the interface. It satisfies huma.StatusError.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	// Hint says what to do.
	Hint string `json:"hint,omitempty"`
	// Retry says that the same request may be made again in a moment: nothing of it was
	// done, or the job it names is gone on with.
	Retry bool `json:"retry,omitempty"`
}

// AgainSoon says that the same request may be made again.
func (e *Error) AgainSoon() *Error {
	e.Retry = true
	return e
}

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHint adds what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// GetStatus is the HTTP status.
func (e *Error) GetStatus() int {
	if row, ok := codes[e.Code]; ok {
		return row.status
	}
	return http.StatusInternalServerError
}

// ExitStatus is the command line's exit status.
func (e *Error) ExitStatus() int {
	if row, ok := codes[e.Code]; ok {
		return row.exit
	}
	return ExitFailure
}

// Codes lists every code with its HTTP status, exit status and meaning, for docs.
func Codes(yield func(c Code, status, exit int, text string) bool) {
	for _, c := range []Code{
		CodeInvalid, CodeNotFound, CodeAmbiguous, CodeNameTaken, CodeEnded, CodeRunning, CodeStale, CodeBusy, CodeEcho, CodeNoShell,
		CodeSpawn, CodeNoProgram, CodeLimit, CodeTimeout, CodeUnavailable, CodeStorage, CodeInternal,
	} {
		if row := codes[c]; !yield(c, row.status, row.exit, row.text) {
			return
		}
	}
}

//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
)

// handler serves the API: operations with typed requests and answers by huma, which
// checks them and describes them in OpenAPI, and streams by plain handlers.
func (d *Daemon) handler() http.Handler {
	mux := http.NewServeMux()
	d.routes(humago.New(mux, apiConfig(d.cfg.Build)))
	mux.HandleFunc("GET "+api.Version+"/sessions/{session}/attach", d.serveAttach)
	mux.HandleFunc("GET "+api.Version+"/sessions/{session}/watch", d.serveWatch)
	return answered(mux)
}

func apiConfig(build string) huma.Config {
	c := huma.DefaultConfig("longterm", build)
	c.Info.Description = "Long-lived terminal sessions: start, watch, drive and read them."
	c.OpenAPIPath = api.Version + "/openapi"
	c.DocsPath, c.SchemasPath = "", ""
	c.CreateHooks = nil // no $schema members in answers
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	return c
}

// schemaName names a type in the API's description. Those of package diagnostics have names
// that others have too.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if strings.HasSuffix(t.PkgPath(), "/session/output/diagnostics") {
		return "Parsed" + name
	}
	return name
}

// OpenAPI is the description of the API in JSON.
func OpenAPI(build string) ([]byte, error) {
	d := &Daemon{}
	a := humago.New(http.NewServeMux(), apiConfig(build))
	d.routes(a)
	return a.OpenAPI().MarshalJSON()
}

func init() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return requestError(status, msg, errs)
	}
}

// requestError is what huma found wrong with a request, in our form.
func requestError(status int, msg string, errs []error) *api.Error {
	var parts []string
	for _, err := range errs {
		var d *huma.ErrorDetail
		switch {
		case err == nil:
		case errors.As(err, &d): // without the value: it may hold an environment
			parts = append(parts, fmt.Sprintf("%s (%s)", d.Message, d.Location))
		default:
			parts = append(parts, err.Error())
		}
	}
	if len(parts) > 0 {
		msg += ": " + strings.Join(parts, "; ")
	}
	code := api.CodeInvalid
	switch {
	case status == http.StatusNotFound:
		code = api.CodeNotFound
	case status >= 500:
		code = api.CodeInternal
	}
	return api.Errorf(code, "%s", msg)
}

// toAPI gives errors of the session layer their code.
func toAPI(err error) error {
	var e *api.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, session.ErrEcho):
		return api.Errorf(api.CodeEcho, "%v", err).WithHint("a secret is typed when the program has turned the echo off; force it if that is meant")
	case errors.Is(err, session.ErrTypedAhead):
		return api.Errorf(api.CodeEcho, "%v", err).WithHint("a secret is typed when the program reads it: wait until it has read the rest, then ask again")
	case errors.Is(err, session.ErrNoRule):
		return api.Errorf(api.CodeNotFound, "%v", err).WithHint("`longterm respond S ls` lists them")
	case errors.Is(err, session.ErrRuleName):
		return api.Errorf(api.CodeNameTaken, "%v", err).WithHint("choose another name, or remove that one with `longterm respond S rm`")
	case errors.Is(err, session.ErrStale):
		return api.Errorf(api.CodeStale, "%v", err).WithHint("look at the screen again")
	case errors.Is(err, session.ErrBusy):
		return api.Errorf(api.CodeBusy, "%v", err).WithHint("wait for it (--wait), interrupt it, or use another session")
	case errors.Is(err, session.ErrNoShell):
		return api.Errorf(api.CodeNoShell, "%v", err).WithHint("use `longterm send` and `longterm wait`, or a session of bash, zsh, fish, ksh or sh")
	case errors.Is(err, session.ErrIncomplete):
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint("close its quotes and blocks; the shell was given Ctrl-C")
	case errors.Is(err, session.ErrRefused):
		return api.Errorf(api.CodeInvalid, "%v", err).WithHint("what the shell said is in its output; it was given Ctrl-C")
	case errors.Is(err, session.ErrLine):
		return api.Errorf(api.CodeInvalid, "%v", err)
	case errors.Is(err, session.ErrQuarantined):
		return api.Errorf(api.CodeInternal, "%v", err).WithHint("`longterm output` shows what it printed; the next daemon (`longterm daemon restart`) tries again")
	case errors.Is(err, session.ErrEnded):
		return api.Errorf(api.CodeEnded, "%v", err).WithHint("its screen and output can still be read")
	case errors.Is(err, session.ErrOverloaded):
		return api.Errorf(api.CodeLimit, "%v", err).WithHint("wait until the program reads, or interrupt it")
	case errors.Is(err, session.ErrFuture), errors.Is(err, session.ErrForgotten):
		return api.Errorf(api.CodeInvalid, "%v", err)
	case errors.Is(err, session.ErrStopped):
		return api.Errorf(api.CodeUnavailable, "%v", err).WithHint("try again")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return api.Errorf(api.CodeTimeout, "%v", err)
	}
	return api.Errorf(api.CodeInternal, "%v", err)
}

// out is an answer with a JSON body.
type out[T any] struct{ Body T }

// op registers an operation. Its handler works on the request's body or parameters
// and answers with a T.
func op[I, T any](a huma.API, method, path, id, summary string, handle func(context.Context, *I) (T, error)) {
	huma.Register(a, huma.Operation{
		OperationID: id, Method: method, Path: api.Version + path, Summary: summary,
		MaxBodyBytes: maxBody, BodyReadTimeout: -1,
	}, func(ctx context.Context, in *I) (*out[T], error) {
		v, err := handle(ctx, in)
		if err != nil {
			return nil, toAPI(err)
		}
		return &out[T]{v}, nil
	})
}

// maxBody bounds a request: a paste of 16 MiB in base64.
const maxBody = 32 << 20

// none is an answer without content.
type none struct {
	OK bool `json:"ok"`
}

// SessionPath names a session. It is exported because huma fills embedded fields only then.
type SessionPath struct {
	Session string `path:"session" doc:"id, name, or a unique prefix of either"`
}

// sessionBody is a request about a session.
type sessionBody[T any] struct {
	SessionPath
	Body T
}

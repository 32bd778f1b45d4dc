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
	return api.Errorf(api.CodeOfHTTP(status), "%s", msg)
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

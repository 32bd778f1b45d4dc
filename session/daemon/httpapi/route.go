//go:build unix

package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/fairsched"
)

// Route is a row of the table of routes.
type Route struct {
	Method, Path string // below api.Version
	ID, Verb     string
	Summary      string
	Errors       []api.Code   // besides those of any request
	Request      reflect.Type // parameters and body
	Answer       reflect.Type // nil: of no type
	Stream       bool         // the answer is a stream
	typed        bool         // Answer is the type of the body, not a struct of body and headers

	register func(s *Server, a huma.API, o huma.Operation)
	serve    func(s *Server, w http.ResponseWriter, r *http.Request) // instead of register: not described in OpenAPI
}

// jsonAnswer is an answer with a JSON body.
type jsonAnswer[T any] struct{ Body T }

// op returns a route whose handler takes the request's body or parameters and answers with a T.
func op[I, T any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I) (T, error), gives []api.Code) Route {
	r := Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Errors: gives, Request: reflect.TypeFor[I](), Answer: reflect.TypeFor[T](), typed: true}
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		o.MaxBodyBytes, o.BodyReadTimeout = maxBody, -1
		huma.Register(a, o, func(ctx context.Context, in *I) (*jsonAnswer[T], error) {
			over := r.releaseSlot(ctx)
			v, err := handle(s, ctx, in)
			over()
			if err != nil {
				return nil, s.prepareError(ctx, s.hintRestore(in, err))
			}
			s.prepareAnswer(withReveal(ctx, in), &v)
			return &jsonAnswer[T]{v}, nil
		})
	}
	return r
}

// raw returns a route whose handler sets headers and body.
func raw[I, O any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I) (*O, error), gives []api.Code) Route {
	r := Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Errors: gives, Request: reflect.TypeFor[I](), Answer: reflect.TypeFor[O]()}
	r.Stream = r.Answer == reflect.TypeFor[huma.StreamResponse]()
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		huma.Register(a, o, func(ctx context.Context, in *I) (*O, error) {
			over := r.releaseSlot(ctx)
			v, err := handle(s, ctx, in)
			if !r.Stream || err != nil {
				over()
			}
			if err != nil {
				return v, s.prepareError(ctx, err)
			}
			return v, nil
		})
	}
	return r
}

// upload returns a route whose handler reads the request's body itself, as bytes, and answers with a T.
func upload[I, T any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I) (T, error), gives []api.Code) Route {
	r := op(method, path, id, verb, summary, handle, gives)
	register := r.register
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		bytes := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/octet-stream": bytes}}
		register(s, a, o)
	}
	return r
}

// eventStream returns a route whose handler sends events while a client listens.
func eventStream[I any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I, sse.Sender)) Route {
	r := Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Request: reflect.TypeFor[I](), Answer: reflect.TypeFor[api.Event](), Stream: true}
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		sse.Register(a, o, map[string]any{"message": api.Event{}}, func(ctx context.Context, in *I, send sse.Sender) {
			fairsched.Wait(ctx) // while the client listens
			fairsched.Listens(ctx)
			handle(s, ctx, in, send)
		})
	}
	return r
}

// answerBody returns the type of an answer's body, or nil if it has none or requests use that type too.
func (r *Route) answerBody() reflect.Type {
	t := r.Answer
	if t == nil || r.Stream {
		return nil
	}
	if !r.typed {
		f, ok := t.FieldByName("Body")
		if !ok {
			return nil
		}
		t = f.Type
	}
	for _, f := range reflect.VisibleFields(r.Request) {
		if f.Type == t {
			return nil
		}
	}
	return t
}

// socket returns a route that becomes a WebSocket.
func socket(method, path, id, verb, summary string, serve func(*Server, http.ResponseWriter, *http.Request), gives []api.Code) Route {
	return Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Errors: gives, Stream: true, serve: serve}
}

// register adds the routes to a mux. It builds the checks of a route at its first request: most routes are never used,
// and all checks together took a third of an idle daemon's memory.
func (s *Server) register(mux *http.ServeMux) {
	for i := range Routes {
		r := &Routes[i]
		serve := sync.OnceValue(func() http.HandlerFunc { return s.handler(r) })
		mux.HandleFunc(r.Method+" "+api.Version+r.Path, func(w http.ResponseWriter, req *http.Request) { serve()(w, req) })
	}
}

// handler returns the handler of a route.
func (s *Server) handler(r *Route) http.HandlerFunc {
	if r.serve == nil {
		var only singleMux
		s.addChecked(&only, r)
		return only.handler
	}
	return func(w http.ResponseWriter, req *http.Request) {
		if err := s.permit(req.Context(), r, req.PathValue, req.URL.Query().Get); err != nil {
			writeError(w, err)
			return
		}
		fairsched.Wait(req.Context())
		r.serve(s, w, req)
	}
}

// singleMux is a mux with one route.
type singleMux struct{ handler http.HandlerFunc }

// HandleFunc implements humago.Mux.
func (o *singleMux) HandleFunc(_ string, handler func(http.ResponseWriter, *http.Request)) {
	o.handler = handler
}

// ServeHTTP implements humago.Mux.
func (o *singleMux) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler(w, r) }

// addChecked adds a route whose requests huma checks, with its own schemas.
func (s *Server) addChecked(mux humago.Mux, r *Route) huma.API {
	c := servingConfig(s.build)
	c.Components.Schemas = &requestSchemas{c.Components.Schemas, r.answerBody()}
	a := humago.New(mux, c)
	a.UseMiddleware(s.checkPermit)
	r.register(s, a, r.operation())
	return a
}

// operation returns huma's description of a route.
func (r *Route) operation() huma.Operation {
	return huma.Operation{OperationID: r.ID, Method: r.Method, Path: api.Version + r.Path, Summary: r.Summary}
}

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
	"github.com/longterm-dev/longterm/session/turns"
)

// Route is a row of the table of routes.
type Route struct {
	Method, Path string // below api.Version
	ID, Verb     string
	Summary      string
	Errors       []api.Code   // besides those of any request
	Request      reflect.Type // parameters and body
	Answer       reflect.Type // nil: of no type
	Stream       bool         // the answer goes on
	typed        bool         // Answer is its body, not what has the body and headers

	register func(s *Server, a huma.API, o huma.Operation)
	serve    func(s *Server, w http.ResponseWriter, r *http.Request) // instead of register: not described in OpenAPI
}

// out is an answer with a JSON body.
type out[T any] struct{ Body T }

// op is a route whose handler works on the request's body or parameters and answers with a T.
func op[I, T any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I) (T, error), gives []api.Code) Route {
	r := Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Errors: gives, Request: reflect.TypeFor[I](), Answer: reflect.TypeFor[T](), typed: true}
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		o.MaxBodyBytes, o.BodyReadTimeout = maxBody, -1
		huma.Register(a, o, func(ctx context.Context, in *I) (*out[T], error) {
			over := r.rest(ctx)
			v, err := handle(s, ctx, in)
			over()
			if err != nil {
				return nil, s.handError(ctx, err)
			}
			s.hand(asShown(ctx, in), &v)
			return &out[T]{v}, nil
		})
	}
	return r
}

// raw is a route whose handler answers with headers and a body of its own.
func raw[I, O any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I) (*O, error), gives []api.Code) Route {
	r := Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Errors: gives, Request: reflect.TypeFor[I](), Answer: reflect.TypeFor[O]()}
	r.Stream = r.Answer == reflect.TypeFor[huma.StreamResponse]()
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		huma.Register(a, o, func(ctx context.Context, in *I) (*O, error) {
			over := r.rest(ctx)
			v, err := handle(s, ctx, in)
			if !r.Stream || err != nil {
				over()
			}
			if err != nil {
				return v, s.handError(ctx, err)
			}
			return v, nil
		})
	}
	return r
}

// eventStream is a route whose handler sends events for as long as a client listens.
func eventStream[I any](method, path, id, verb, summary string, handle func(*Server, context.Context, *I, sse.Sender)) Route {
	r := Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Request: reflect.TypeFor[I](), Answer: reflect.TypeFor[api.Event](), Stream: true}
	r.register = func(s *Server, a huma.API, o huma.Operation) {
		sse.Register(a, o, map[string]any{"message": api.Event{}}, func(ctx context.Context, in *I, send sse.Sender) {
			turns.Wait(ctx) // for as long as somebody listens
			turns.Listens(ctx)
			handle(s, ctx, in, send)
		})
	}
	return r
}

// answerBody is the type of an answer's body; nil: it has none, or a request has a part of that type, too.
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

// socket is a route that becomes a WebSocket.
func socket(method, path, id, verb, summary string, serve func(*Server, http.ResponseWriter, *http.Request), gives []api.Code) Route {
	return Route{Method: method, Path: path, ID: id, Verb: verb, Summary: summary, Errors: gives, Stream: true, serve: serve}
}

// register has a mux serve the table of routes. What a route checks is made when it is asked for the first time: most are never
// asked, and that of all of them took a third of what a daemon at rest has in use.
func (s *Server) register(mux *http.ServeMux) {
	for i := range Routes {
		r := &Routes[i]
		serve := sync.OnceValue(func() http.HandlerFunc { return s.handler(r) })
		mux.HandleFunc(r.Method+" "+api.Version+r.Path, func(w http.ResponseWriter, req *http.Request) { serve()(w, req) })
	}
}

// handler is what serves a route.
func (s *Server) handler(r *Route) http.HandlerFunc {
	if r.serve == nil {
		var only one
		s.checked(&only, r)
		return only.handler
	}
	return func(w http.ResponseWriter, req *http.Request) {
		if err := s.permit(req.Context(), r, req.PathValue, req.URL.Query().Get); err != nil {
			writeError(w, err)
			return
		}
		turns.Wait(req.Context())
		r.serve(s, w, req)
	}
}

// one is a mux of one route, to which another one leads.
type one struct{ handler http.HandlerFunc }

// HandleFunc implements humago.Mux.
func (o *one) HandleFunc(_ string, handler func(http.ResponseWriter, *http.Request)) {
	o.handler = handler
}

// ServeHTTP implements humago.Mux.
func (o *one) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.handler(w, r) }

// checked has a mux serve a route whose requests huma checks, against schemas that no other route has.
func (s *Server) checked(mux humago.Mux, r *Route) huma.API {
	c := servingConfig(s.build)
	c.Components.Schemas = &requestSchemas{c.Components.Schemas, r.answerBody()}
	a := humago.New(mux, c)
	a.UseMiddleware(s.scoped)
	r.register(s, a, r.operation())
	return a
}

// operation is what is said of a route whose requests huma checks.
func (r *Route) operation() huma.Operation {
	return huma.Operation{OperationID: r.ID, Method: r.Method, Path: api.Version + r.Path, Summary: r.Summary}
}

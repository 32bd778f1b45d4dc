//go:build unix

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// TestRequestSchemas checks that requests are validated with the schemas in OpenAPI, and that schemas of responses are
// not kept, but built on request.
//
// FEATURES: R86
func TestRequestSchemas(t *testing.T) {
	s := &Server{build: "test"}
	full := describe(http.NewServeMux(), "test").OpenAPI()
	kept := 0
	for i := range Routes {
		r := &Routes[i]
		if r.serve != nil {
			continue
		}
		serving := s.addChecked(&singleMux{}, r).OpenAPI()
		want, got := operation(full, r.ID), operation(serving, r.ID)
		if want == nil || got == nil || asJSON(t, got.Parameters) != asJSON(t, want.Parameters) || asJSON(t, got.RequestBody) != asJSON(t, want.RequestBody) {
			t.Errorf("%s is not validated as documented", r.ID)
		}
		for name, schema := range serving.Components.Schemas.Map() {
			if asJSON(t, schema) != asJSON(t, full.Components.Schemas.Map()[name]) {
				t.Errorf("%s: %s is another schema", r.ID, name)
			}
		}
		if body := r.answerBody(); body != nil && serving.Components.Schemas.Map()[schemaName(body, "")] != nil {
			kept++
		}
	}
	if all := len(Routes); kept > all/4 { // some are requested and answered
		t.Errorf("schemas of responses are kept for %d of %d routes", kept, all)
	}

	want, err := OpenAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	s.serveOpenAPI(rec, httptest.NewRequest("GET", openAPIPath+".json", nil))
	var a, b any
	if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil || json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v: the served document is not the description", err)
	}
}

// operation returns a route's part of the API, or nil.
func operation(o *huma.OpenAPI, id string) *huma.Operation {
	for _, p := range o.Paths {
		for _, op := range []*huma.Operation{p.Get, p.Put, p.Post, p.Delete, p.Options, p.Head, p.Patch, p.Trace} {
			if op != nil && op.OperationID == id {
				return op
			}
		}
	}
	return nil
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSchemas_BuiltOnFirstUse checks that schemas are built for requested routes, not at the daemon's start: building
// all takes many times the allocations of one.
//
// FEATURES: R86
func TestSchemas_BuiltOnFirstUse(t *testing.T) {
	s := &Server{build: "test"}
	all := testing.AllocsPerRun(1, func() { s.register(http.NewServeMux()) })
	one := testing.AllocsPerRun(1, func() { s.handler(routeOf["new-session"]) })
	if all > 10*one {
		t.Errorf("%g allocations for %d routes without requests, %g for one that is requested", all, len(Routes), one)
	}
}

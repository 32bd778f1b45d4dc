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

// What a daemon checks requests against is what OpenAPI says of them; schemas of answers it does not keep, and it describes
// them all the same when it is asked.
//
// FEATURES: R86
func TestRequestSchemas(t *testing.T) {
	s := &Server{build: "test"}
	full := s.register(http.NewServeMux(), apiConfig("test")).OpenAPI()
	serving := s.register(http.NewServeMux(), servingConfig("test")).OpenAPI()
	for path, item := range full.Paths {
		for i, want := range operations(item) {
			got := operations(serving.Paths[path])[i]
			if want == nil {
				continue
			}
			if got == nil || asJSON(t, got.Parameters) != asJSON(t, want.Parameters) || asJSON(t, got.RequestBody) != asJSON(t, want.RequestBody) {
				t.Errorf("%s: %s is not checked as it is described", path, want.OperationID)
			}
		}
	}
	kept := serving.Components.Schemas.Map()
	for name, schema := range kept {
		if asJSON(t, schema) != asJSON(t, full.Components.Schemas.Map()[name]) {
			t.Errorf("%s is another schema", name)
		}
	}
	if all := len(full.Components.Schemas.Map()); len(kept) > all*2/3 {
		t.Errorf("%d of %d schemas are kept", len(kept), all)
	}

	want, err := OpenAPI("test")
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	s.serveOpenAPI(rec, httptest.NewRequest("GET", openAPIPath+".json", nil))
	var a, b any
	if err := json.Unmarshal(rec.Body.Bytes(), &a); err != nil || json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%v: what is served is not the description", err)
	}
}

func operations(p *huma.PathItem) []*huma.Operation {
	if p == nil {
		p = &huma.PathItem{}
	}
	return []*huma.Operation{p.Get, p.Put, p.Post, p.Delete, p.Options, p.Head, p.Patch, p.Trace}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

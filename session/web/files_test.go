package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFiles checks that a changing file is revalidated, the others are cached. Files are compressed for clients that
// accept it, and no path leads out of the directory.
//
// FEATURES: R83
func TestFiles(t *testing.T) {
	script := strings.Repeat("let x = 1\n", 100)
	f, err := newFiles(fstest.MapFS{
		"index.html": {Data: []byte(`<script type="module" src="{{assets}}/script.js"></script>`)},
		"script.js":  {Data: []byte(script)}, "sub/wire.svg": {Data: []byte("1")}, "README.md": {Data: []byte("no")},
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.URL.Path = path
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		if !f.serve(w, r) {
			w.WriteHeader(http.StatusNotFound)
		}
		return w
	}
	index := get("/")
	if want := `src="p/` + f.hash + `/script.js"`; !strings.Contains(index.Body.String(), want) || index.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%s, %v", index.Body, index.Header())
	}
	if again := get("/", "If-None-Match", index.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("%d, %s", again.Code, again.Body)
	}
	app := get("/p/" + f.hash + "/script.js")
	if app.Body.String() != script || !strings.Contains(app.Header().Get("Cache-Control"), "immutable") || app.Header().Get("Content-Encoding") != "" {
		t.Errorf("%v", app.Header())
	}
	if packed := get("/p/"+f.hash+"/script.js", "Accept-Encoding", "br, gzip"); packed.Header().Get("Content-Encoding") != "gzip" || packed.Body.Len() >= len(script) {
		t.Errorf("%v", packed.Header())
	}
	if none := get("/p/"+f.hash+"/script.js", "Accept-Encoding", "gzip;q=0"); none.Header().Get("Content-Encoding") != "" {
		t.Errorf("%v", none.Header())
	}
	for _, path := range []string{
		"/script.js", "/p/other/script.js", "/p/" + f.hash + "/README.md", "/p/" + f.hash + "/index.html", "/p/" + f.hash + "/../../files.go",
		"/p/" + f.hash + "/sub/../script.js", "/../page/index.html", "//etc/passwd", "/p/" + f.hash + "/", "/p/" + f.hash + "/%2e%2e/script.js", "/sw.js",
	} {
		if w := get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := get("/p/" + f.hash + "/sub/wire.svg"); w.Body.String() != "1" {
		t.Errorf("%d", w.Code)
	}
}

// TestEmbedded checks that the embedded files are served.
func TestEmbedded(t *testing.T) {
	w := httptest.NewRecorder()
	if !Embedded().serve(w, httptest.NewRequest(http.MethodGet, "http://localhost/", nil)) || !strings.Contains(w.Body.String(), "<title>") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if strings.Contains(w.Body.String(), placeholder) {
		t.Error("got the placeholder in the page")
	}
}

package web

import "net/http"

// policy lets the page load its own files and talk to where it came from, and nothing else; nothing may show it
// within itself. Scripts and styles are files: what output makes it into the document is text. Trusted Types have
// the browser refuse text as HTML even where the page would make that mistake.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types longterm"

// guards are the headers of every answer of the door.
var guards = [][2]string{
	{"Content-Security-Policy", policy},
	{"Referrer-Policy", "no-referrer"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"}, // for browsers without frame-ancestors
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Permissions-Policy", "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), " +
		"microphone=(), payment=(), usb=(), clipboard-read=(self), clipboard-write=(self), fullscreen=(self)"},
}

func guard(h http.Header) {
	for _, g := range guards {
		h.Set(g[0], g[1])
	}
}

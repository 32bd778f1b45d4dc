// Package docs holds the documentation's pages, which `longterm help TOPIC` prints.
package docs

import "embed"

// Pages holds the pages by their file names, as "policy.md".
//
//go:embed *.md
var Pages embed.FS

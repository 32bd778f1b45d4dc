package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
)

// Fields are found by their struct tag `wire:"N"`. Field types: uint64, int64, bool, string, []string. The protocol is
// rarely used, as output travels through the ring, so the cost of reflection does not matter.

// fieldHeader is the size of a field's tag and length, in bytes.
const fieldHeader = 6

// ErrMalformed is returned for payloads whose fields are inconsistent.
var ErrMalformed = errors.New("keeper protocol: malformed message")

// appendFields appends a message's fields.
func appendFields(dst []byte, msg Message) []byte {
	v := reflect.ValueOf(msg).Elem()
	t := v.Type()
	for i, tag := range fieldTags(t) {
		switch f := v.Field(i); f.Kind() {
		case reflect.Uint64:
			dst = appendInt(dst, tag, f.Uint())
		case reflect.Int64:
			dst = appendInt(dst, tag, uint64(f.Int()))
		case reflect.Bool:
			if f.Bool() {
				dst = appendInt(dst, tag, 1)
			}
		case reflect.String:
			if f.Len() > 0 {
				dst = appendField(dst, tag, f.String())
			}
		case reflect.Slice:
			for j := range f.Len() {
				dst = appendField(dst, tag, f.Index(j).String())
			}
		default:
			panic("keeper protocol: field type of " + t.Name() + "." + t.Field(i).Name)
		}
	}
	return dst
}

// tags caches the field tags of message types.
var tags sync.Map

// fieldTags returns the tags of a message's fields, in order.
func fieldTags(t reflect.Type) []uint16 {
	if known, ok := tags.Load(t); ok {
		return known.([]uint16)
	}
	list := make([]uint16, t.NumField())
	for i := range list {
		list[i] = fieldTag(t.Field(i))
	}
	tags.Store(t, list)
	return list
}

// fieldTag returns the tag of a field.
func fieldTag(f reflect.StructField) uint16 {
	n, err := strconv.ParseUint(f.Tag.Get("wire"), 10, 16)
	if err != nil || n == 0 {
		panic("keeper protocol: field without a tag: " + f.Name)
	}
	return uint16(n)
}

// appendInt appends a field with an integer.
func appendInt(dst []byte, tag uint16, v uint64) []byte {
	if v == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint16(dst, tag)
	dst = binary.LittleEndian.AppendUint32(dst, 8)
	return binary.LittleEndian.AppendUint64(dst, v)
}

// appendField appends a field with a string.
func appendField(dst []byte, tag uint16, s string) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, tag)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
	return append(dst, s...)
}

// Decode fills msg, a pointer to a message struct, from a payload. Unknown tags are
// skipped.
func Decode(payload []byte, msg Message) error {
	v := reflect.ValueOf(msg).Elem()
	known := fieldTags(v.Type())
	for len(payload) > 0 {
		if len(payload) < fieldHeader {
			return fmt.Errorf("%w: %d stray bytes", ErrMalformed, len(payload))
		}
		tag := binary.LittleEndian.Uint16(payload)
		n := int(binary.LittleEndian.Uint32(payload[2:]))
		payload = payload[fieldHeader:]
		if n > len(payload) {
			return fmt.Errorf("%w: field %d of %d bytes, %d left", ErrMalformed, tag, n, len(payload))
		}
		if i := slices.Index(known, tag); i >= 0 {
			if err := setField(v.Field(i), tag, payload[:n]); err != nil {
				return err
			}
		}
		payload = payload[n:]
	}
	return nil
}

// setField sets a field from its encoded value.
func setField(f reflect.Value, tag uint16, val []byte) error {
	switch f.Kind() {
	case reflect.String:
		f.SetString(string(val))
		return nil
	case reflect.Slice:
		f.Set(reflect.Append(f, reflect.ValueOf(string(val))))
		return nil
	}
	if len(val) != 8 {
		return fmt.Errorf("%w: integer field %d of %d bytes", ErrMalformed, tag, len(val))
	}
	n := binary.LittleEndian.Uint64(val)
	switch f.Kind() {
	case reflect.Uint64:
		f.SetUint(n)
	case reflect.Int64:
		f.SetInt(int64(n))
	case reflect.Bool:
		f.SetBool(n != 0)
	}
	return nil
}

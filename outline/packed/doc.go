// Package packed turns an outline into bytes that can be kept on disk, and back.
//
// Decode gives an outline that is equal to the one that Append was given, or
// an error: a checksum covers every byte, so that damage is never taken for an
// outline. Text that occurs again in one outline, which kinds, modifiers and
// many names do, is written once. What Decode returns shares one copy of the
// bytes, and all its symbols lie in one slice.
//
// The bytes are those of one version of this format. Another version of it
// refuses them, and whoever kept them makes them again.
package packed

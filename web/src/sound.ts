// The sound of a stone, synthesised: a short knock on wood. Off by default on phones.

import { store, stored } from "./i18n";

let context: AudioContext | null = null;

export function isSoundOn(): boolean {
  return stored("sound", matchMedia("(pointer: coarse)").matches ? "off" : "on") === "on";
}

export function setSound(on: boolean): void {
  store("sound", on ? "on" : "off");
}

/** Knock once, after the stone is drawn; silent where sound is off or not allowed yet. */
export function knock(): void {
  if (isSoundOn() && "AudioContext" in window) requestAnimationFrame(() => setTimeout(() => sound()));
}

/** Tick once, quietly: the last seconds of a clock. */
export function tick(): void {
  if (isSoundOn() && "AudioContext" in window) sound(0.12, 1760);
}

function sound(loudness = 0.5, pitch = 880): void {
  context ??= new AudioContext();
  if (context.state !== "running") {
    void context.resume();
    if (!navigator.userActivation?.hasBeenActive) return;
  }
  const length = Math.round(context.sampleRate * 0.07);
  const buffer = context.createBuffer(1, length, context.sampleRate);
  const samples = buffer.getChannelData(0);
  for (let i = 0; i < length; i++) {
    const time = i / context.sampleRate;
    const click = (Math.random() * 2 - 1) * Math.exp(-time * 900);
    samples[i] = loudness * click + loudness * Math.sin(2 * Math.PI * pitch * time) * Math.exp(-time * 110);
  }
  const source = context.createBufferSource();
  source.buffer = buffer;
  source.connect(context.destination);
  source.start();
}

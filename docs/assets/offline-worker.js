// The search runs in a worker, which browsers do not start from a file. There it runs in a frame.
window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const base = new URL(url, location.href);
    this.waiting = [];
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.appendChild(frame);
    const inside = frame.contentWindow;
    inside.importScripts = (...urls) =>
      urls.reduce((before, each) => before.then(() => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = new URL(each, base).href;
        script.onload = resolve;
        script.onerror = reject;
        inside.document.body.appendChild(script);
      })), Promise.resolve());
    inside.postMessage = (data) => {
      const event = new MessageEvent("message", { data });
      if (this.onmessage) this.onmessage(event);
      this.dispatchEvent(event);
    };
    this.inside = inside;
    inside.importScripts(base.href).then(() => {
      this.isReady = true;
      this.waiting.splice(0).forEach((data) => this.postMessage(data));
    });
  }

  postMessage(data) {
    if (!this.isReady) return void this.waiting.push(data);
    this.inside.dispatchEvent(new MessageEvent("message", { data }));
  }

  terminate() {}
};

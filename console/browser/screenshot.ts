/** Screenshots as files, and how much two of them differ to the eye. */
import type { Page } from "playwright-core";

/** WebP by the browser itself, a fourth of a PNG, in a part of its size. */
export async function webp(page: Page, png: Buffer, scale = 1): Promise<Buffer> {
  const found = await page.evaluate(
    async ({ source, scale }) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width * scale;
      canvas.height = image.height * scale;
      canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas.toDataURL("image/webp", 0.9);
    },
    { source: `data:image/png;base64,${png.toString("base64")}`, scale },
  );
  return Buffer.from(found.split(",")[1]!, "base64");
}

/**
 * Parts of two pictures, in thousandths, whose colour differs: each is cut into 64 by 40 parts, whose means are compared. So
 * another font or another number is no difference, and a box that is elsewhere, or of another colour, is one.
 */
export async function difference(page: Page, one: Buffer, other: Buffer): Promise<number> {
  return page.evaluate(
    async (sources) => {
      const parts = await Promise.all(
        sources.map(async (source) => {
          const image = new Image();
          image.src = source;
          await image.decode();
          const canvas = document.createElement("canvas");
          canvas.width = 64;
          canvas.height = 40;
          const context = canvas.getContext("2d")!;
          context.imageSmoothingQuality = "high";
          context.drawImage(image, 0, 0, 64, 40);
          return context.getImageData(0, 0, 64, 40).data;
        }),
      );
      const [first, second] = parts as [Uint8ClampedArray, Uint8ClampedArray];
      let differ = 0;
      for (let at = 0; at < first.length; at += 4) {
        const most = Math.max(...[0, 1, 2].map((colour) => Math.abs(first[at + colour]! - second[at + colour]!)));
        if (most > 40) differ++;
      }
      return Math.round((1000 * differ * 4) / first.length);
    },
    [one, other].map((each) => `data:image/webp;base64,${each.toString("base64")}`),
  );
}
